import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin, ViteBuilder, ViteDevServer } from 'vite'

type Prerender = typeof import('../prerender.tsx')

const client = resolve('dist/client')
const renderer = resolve('dist/prerender')

/** `vite build` writes one HTML file a page; `vite` renders the page on request with the same code. */
export function pages(): Plugin {
  return {
    name: 'pages',
    config: () => ({
      environments: {
        client: { build: { outDir: client, emptyOutDir: true } },
        ssr: {
          build: {
            outDir: renderer,
            emptyOutDir: true,
            copyPublicDir: false,
            rolldownOptions: { input: 'client/prerender.tsx' },
          },
        },
      },
    }),
    configureServer: (server) => () => servePages(server),
  }
}

/** Builds the client, then writes its pages: the first two steps of `builder.buildApp`. */
export async function buildPages(builder: ViteBuilder) {
  const { client: browser, ssr } = builder.environments
  if (!browser || !ssr) throw new Error('The client and ssr environments are missing')
  await builder.build(browser)
  await builder.build(ssr)
  const { files, renderPage, pagePaths }: Prerender = await import(pathToFileURL(join(renderer, 'prerender.js')).href)
  const template = await withIntegrity(await readFile(join(client, 'index.html'), 'utf8'))
  for (const [path, file] of pagePaths) await write(file, renderPage(template, path))
  for (const [file, text] of files) await write(file, text)
  await rm(renderer, { recursive: true })
}

async function write(file: string, text: string) {
  const target = join(client, file)
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, text)
}

/** Adds the hash of each own script and stylesheet to its tag. */
async function withIntegrity(html: string) {
  let result = html
  for (const [tag, url] of html.matchAll(/<(?:script|link rel="stylesheet")[^>]*? (?:src|href)="(\/assets\/[^"]+)"/g)) {
    const hash = createHash('sha384')
      .update(await readFile(join(client, url ?? '')))
      .digest('base64')
    result = result.replace(tag, () => `${tag} integrity="sha384-${hash}"`)
  }
  return result
}

function servePages(server: ViteDevServer) {
  server.middlewares.use(async (request, response, next) => {
    try {
      const path = new URL(request.originalUrl ?? '/', 'http://localhost').pathname
      const { isPage, renderPage } = (await server.ssrLoadModule('/prerender.tsx')) as Prerender
      const template = await server.transformIndexHtml(path, await readFile('client/index.html', 'utf8'))
      response.writeHead(isPage(path) ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' })
      response.end(renderPage(template, path))
    } catch (error) {
      next(error)
    }
  })
}
