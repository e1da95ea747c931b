import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Plugin, Rolldown, ViteBuilder, ViteDevServer } from 'vite'
import { palette } from '../../shared/brand.ts'
import { DESK_PATH } from '../../shared/desk.ts'
import { NOT_FOUND_PATH } from '../../shared/page-paths.ts'
import { hues } from '../content/compositions.ts'
import { missingCharacters } from '../fonts/characters.ts'

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
        // A build of its own: no visitor loads a byte of the desk.
        desk: {
          consumer: 'client',
          build: {
            outDir: client,
            emptyOutDir: false,
            copyPublicDir: false,
            rolldownOptions: {
              input: [resolve('client/desk/desk.html'), resolve('client/desk/message.html')],
              // Its fonts are those of the pages.
              output: {
                assetFileNames: ({ names: [name = ''] }) =>
                  name.endsWith('.css') ? 'assets/desk-[hash].css' : 'assets/[name]-[hash][extname]',
              },
            },
          },
        },
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
    // A file that only the server-rendered page imports has no module in the browser: a change of it reloads the page.
    hotUpdate({ file, server: { environments } }) {
      const { client: browser, ssr } = environments
      if (this.environment === ssr && !browser.moduleGraph.getModulesByFile(file))
        browser.hot.send({ type: 'full-reload' })
    },
  }
}

const paletteTokens = new Map(
  Object.entries(palette).map(([name, colour]) => [
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    colour,
  ]),
)

const hueRules = Object.entries(hues).map(([name, colour]) => `[data-hue=${name}]{--hue:${colour}}`)

/** Gives styles the colours that mails have too, and those of the ingredients. */
export const paletteStyles: Plugin = {
  name: 'palette',
  enforce: 'pre',
  transform: {
    filter: { id: /\/(?:styles\/site|desk\/desk)\.css/ },
    handler(css, id) {
      const tokens = [...paletteTokens].map(([name, colour]) => `${name}:${colour}`)
      return `${css}\n:root{${tokens.join(';')}}${id.includes('site.css') ? hueRules.join('') : ''}`
    },
  },
}

const ORDER_ISLAND = 'data-island="order"'

/** Builds the client, writes its pages, and compresses scripts and styles. */
export async function buildPages(builder: ViteBuilder) {
  const { client: browser, desk, ssr } = builder.environments
  if (!browser || !desk || !ssr) throw new Error('The client, desk and ssr environments are missing')
  const scripts = scriptsOf(await builder.build(browser), ['hydrate.tsx', 'order-form.tsx'])
  await builder.build(desk)
  await builder.build(ssr)
  const { renderSite }: Prerender = await import(pathToFileURL(join(renderer, 'prerender.js')).href)
  const template = await readFile(join(client, 'index.html'), 'utf8') // then the home page takes its place
  for (const [file, text] of renderSite(template)) {
    const missing = file.endsWith('.html') ? missingCharacters(text) : []
    if (missing.length > 0)
      console.warn(
        `${file}: our fonts lack ${missing.join(' ')}, which browsers show in a font of the device. A letter is added in client/fonts/characters.ts, a script by a font of its own in client/styles/fonts.css`,
      )
    await mkdir(dirname(join(client, file)), { recursive: true })
    await writeFile(join(client, file), text.replace(ORDER_ISLAND, `${ORDER_ISLAND} data-scripts="${scripts}"`))
  }
  await rm(renderer, { recursive: true })
  await compressAssets(join(client, 'assets'))
}

/** The addresses of these modules and of all that they import statically, for `prefetchScripts` in main.ts. */
function scriptsOf(built: unknown, modules: string[]): string {
  const { output } = built as Rolldown.RolldownOutput
  const chunks = new Map(output.filter((file) => file.type === 'chunk').map((chunk) => [chunk.fileName, chunk]))
  const found = new Set<string>()
  function add(name: string) {
    if (found.has(name)) return
    found.add(name)
    for (const imported of chunks.get(name)?.imports ?? []) add(imported)
  }
  for (const { fileName, facadeModuleId } of chunks.values())
    if (modules.some((module) => facadeModuleId?.endsWith(`/${module}`))) add(fileName)
  return [...found].map((name) => `/${name}`).join(' ')
}

/** Serves pages. Answers to forms sent without scripts need the built site. */
function servePages(server: ViteDevServer) {
  server.middlewares.use(async (request, response, next) => {
    try {
      const { pathname } = new URL(request.originalUrl ?? '/', 'http://localhost')
      const asHtml = { 'content-type': 'text/html; charset=utf-8' }
      if (pathname.startsWith(DESK_PATH)) {
        const desk = await server.transformIndexHtml('/desk/desk.html', await readFile('client/desk/desk.html', 'utf8'))
        return response.writeHead(200, asHtml).end(desk)
      }
      const { pageAt, renderPage } = (await server.ssrLoadModule('/prerender.tsx')) as Prerender
      const page = pageAt(pathname)
      const template = await server.transformIndexHtml(page.path, await readFile('client/index.html', 'utf8'))
      const status = page.path === NOT_FOUND_PATH ? 404 : 200
      response.writeHead(status, asHtml).end(renderPage(template, page))
    } catch (error) {
      next(error)
    }
  })
}

/** Writes the brotli and gzip forms of scripts and styles beside them, so that no request has to wait for it. */
async function compressAssets(folder: string) {
  for (const name of (await readdir(folder)).filter((each) => /\.(js|css)$/.test(each))) {
    const body = await readFile(join(folder, name))
    await writeFile(join(folder, `${name}.br`), brotliCompressSync(body))
    await writeFile(join(folder, `${name}.gz`), gzipSync(body, { level: constants.Z_BEST_COMPRESSION }))
  }
}
