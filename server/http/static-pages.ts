import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { productPath, productSlug, products } from '../../shared/catalogue.ts'
import { DESK_PATH } from '../../shared/desk.ts'
import { NOT_FOUND_PATH, PUBLIC_URL_PLACEHOLDER, withoutEndSlashes } from '../../shared/page-paths.ts'
import { type Env, publicUrlOf } from '../env.ts'
import { assetHeaders, securityHeaders } from './headers.ts'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.avif': 'image/avif',
  '.webp': 'image/webp',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
}
/** Documents contain the site's own address; all other files are assets of a page. */
const DOCUMENT = /\.(html|xml|txt)$/

interface Representation {
  body: Buffer
  headers: { etag: string } & Record<string, string>
}

/** A built file in each encoding, with all its headers. */
interface SiteFile {
  identity: Representation
  br?: Representation | undefined
  gzip?: Representation | undefined
}

/** The built pages and assets by path, held in memory. */
export type StaticPages = Map<string, SiteFile>

const ASSETS = '/assets/'
/** The files of the desk, which is for staff only (desk/pages.ts). */
const DESK = '/desk/'
/** A higher quality would slow each start: docs/decisions/0006. */
const BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

/**
 * Reads the built pages. Assets were compressed by the build; documents are compressed here, once the settings that they show
 * are filled in. Synchronous, as no request is served before.
 */
export function readStaticPages(folder: string, env: Env): StaticPages {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : []
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const [forAssets, forDocuments] = [assetHeaders(env), securityHeaders(env)]
  const pages: StaticPages = new Map()
  for (const file of files.filter((name) => !/\.(br|gz)$/.test(name))) {
    const name = `/${relative(folder, file)}`
    const isDocument = DOCUMENT.test(name)
    const body = isDocument ? fillInSettings(readFileSync(file), env) : readFileSync(file)
    const compress = () => [brotliCompressSync(body, BROTLI_OPTIONS), gzipSync(body)]
    const readCompressed = () =>
      files.includes(`${file}.br`) ? [readFileSync(`${file}.br`), readFileSync(`${file}.gz`)] : []
    const [br, gzip] = isDocument ? compress() : readCompressed()
    const headers = {
      'cache-control': name.startsWith(ASSETS) ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...(br && { vary: 'accept-encoding' }),
      ...(isDocument ? forDocuments : forAssets),
    }
    pages.set(pathOf(name), {
      identity: createRepresentation(name, body, headers),
      br: br && createRepresentation(name, br, { 'content-encoding': 'br', ...headers }),
      gzip: gzip && createRepresentation(name, gzip, { 'content-encoding': 'gzip', ...headers }),
    })
  }
  return pages
}

function fillInSettings(document: Buffer, env: Env): Buffer {
  let filled = document.toString().replaceAll(PUBLIC_URL_PLACEHOLDER, publicUrlOf(env))
  if (env.METRICS_PORT) filled = filled.replace('data-vitals="off"', 'data-vitals="on"')
  if (env.PUBLIC_URL) filled = filled.replace('data-mail-links="off"', 'data-mail-links="on"')
  return Buffer.from(filled)
}

/** `/buy-now.html` is the page `/buy-now`. */
function pathOf(name: string): string {
  return name === '/index.html' ? '/' : name.replace(/\.html$/, '')
}

function createRepresentation(name: string, body: Buffer, headers: Record<string, string>): Representation {
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  return { body, headers: { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream', etag, ...headers } }
}

export function htmlOf({ identity }: SiteFile): string {
  return identity.body.toString()
}

/**
 * Serves each page at its path, and all assets by one route, which starts faster than a route for each.
 * @param except pages that a room serves, as they depend on the request
 */
export function servePages(app: FastifyInstance, pages: StaticPages, except: string[]): void {
  for (const [path, file] of pages) {
    if (path === NOT_FOUND_PATH || except.includes(path) || path.startsWith(ASSETS) || path.startsWith(DESK)) continue
    app.get(path, (request, reply) => send(request, reply, file, 200))
  }
  app.get<{ Params: { '*': string } }>(`${ASSETS}*`, (request, reply) => {
    const file = pages.get(ASSETS + request.params['*'])
    return file ? send(request, reply, file, 200) : reply.callNotFound()
  })
}

/**
 * The page of our own that is meant by an address in other capital letters, with slashes at its end, or of a product's name
 * alone, as people print and type it.
 */
function findMeantPath(path: string, pages: StaticPages): string | undefined {
  const typed = withoutEndSlashes(path.toLowerCase())
  if (`${typed}/`.startsWith(`${DESK_PATH}/`)) return typed // desk/routes.ts finds the page, or says that there is none
  const product = products.find((each) => typed === `/${productSlug(each)}`)
  const meant = product ? productPath(product) : typed
  return pages.has(meant) && !meant.startsWith(DESK) ? meant : undefined
}

export function sendNotFound(request: FastifyRequest, reply: FastifyReply, pages: StaticPages): unknown {
  const [path = '', ...query] = request.url.split('?')
  const meant = findMeantPath(path, pages)
  if (meant && meant !== path) return reply.redirect([meant, ...query].join('?'), 308)
  const page = pages.get(NOT_FOUND_PATH)
  return page ? send(request, reply, page, 404) : reply.code(404).send('Not found')
}

function send(request: FastifyRequest, reply: FastifyReply, file: SiteFile, status: number): FastifyReply {
  const { body, headers } = file[preferredEncoding(request.headers['accept-encoding'])] ?? file.identity
  const isUnchanged =
    status === 200 && request.method === 'GET' && request.headers['if-none-match']?.includes(headers.etag)
  reply.headers(headers)
  return isUnchanged ? reply.code(304).send() : reply.code(status).send(body)
}

function preferredEncoding(accepted = ''): keyof SiteFile {
  if (/\bbr\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(accepted)) return 'br'
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(accepted) ? 'gzip' : 'identity'
}
