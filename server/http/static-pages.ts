import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  NOT_FOUND_PATH,
  PUBLIC_URL_PLACEHOLDER,
  RECEIVED_PATH,
  SUBSCRIPTION_PATH,
  withoutEndSlashes,
} from '../../shared/page-paths.ts'
import { type Env, publicUrlOf } from '../env.ts'
import { partHeaders, securityHeaders } from './security.ts'

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
}
/** They carry the site's own address; all else is shown or run as part of a page and never by itself. */
const DOCUMENT = /\.(html|xml|txt)$/

interface Representation {
  /** A character a byte (Latin-1): Node sends headers and a text by one write, which is a fifth more pages a second. */
  body: string
  etag: string
  /** Names and values in turn: what Node writes fastest. */
  headers: string[]
  /** Those of the answer that the client's copy is still the same. */
  unchangedHeaders: string[]
}

/** One file of the built site, in each encoding it is there in, with all its headers. */
interface SiteFile {
  identity: Representation
  br?: Representation | undefined
  gzip?: Representation | undefined
}

/** The built site, held in memory, by path. */
export type StaticPages = Map<string, SiteFile>

const ASSETS = '/assets/'
/** Pages that are made of what is asked for. */
const OWN = [NOT_FOUND_PATH, RECEIVED_PATH, SUBSCRIPTION_PATH]
/** The highest quality makes pages a tenth smaller and takes a quarter of a second of every start; this takes 12 ms. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

/**
 * Reads the built site. Scripts and styles are compressed when they are built, what carries the site's own address is here.
 * Reads synchronously, which is 50 ms of the time to the first order: while a server starts nobody else waits.
 */
export function readStaticPages(folder: string, env: Env): StaticPages {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : []
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const [ofParts, ofDocuments] = [partHeaders(env), securityHeaders(env)]
  const pages: StaticPages = new Map()
  for (const file of files.filter((name) => !/\.(br|gz)$/.test(name))) {
    const name = `/${relative(folder, file)}`
    const isDocument = DOCUMENT.test(name)
    const body = isDocument ? fillIn(readFileSync(file), env) : readFileSync(file)
    const [br, gzip] = isDocument
      ? [brotliCompressSync(body, QUALITY), gzipSync(body)]
      : files.includes(`${file}.br`)
        ? [readFileSync(`${file}.br`), readFileSync(`${file}.gz`)]
        : []
    const headers = {
      'cache-control': name.startsWith(ASSETS) ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...(br && { vary: 'accept-encoding' }),
      ...(isDocument ? ofDocuments : ofParts),
    }
    pages.set(pathOf(name), {
      identity: represent(name, body, headers),
      br: br && represent(name, br, { 'content-encoding': 'br', ...headers }),
      gzip: gzip && represent(name, gzip, { 'content-encoding': 'gzip', ...headers }),
    })
  }
  return pages
}

function fillIn(document: Buffer, env: Env): Buffer {
  const filled = document.toString().replaceAll(PUBLIC_URL_PLACEHOLDER, publicUrlOf(env))
  return Buffer.from(env.METRICS_PORT ? filled.replace('data-vitals="off"', 'data-vitals="on"') : filled)
}

/** `/buy-now.html` is the page `/buy-now`. */
function pathOf(name: string): string {
  return name === '/index.html' ? '/' : name.replace(/\.html$/, '')
}

function represent(name: string, body: Buffer, headers: Record<string, string>): Representation {
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  const type = TYPES[extname(name)] ?? 'application/octet-stream'
  const unchangedHeaders = Object.entries({ etag, ...headers }).flat()
  const ofBody = ['content-type', type, 'content-length', String(body.length)]
  return { body: body.toString('latin1'), etag, headers: [...ofBody, ...unchangedHeaders], unchangedHeaders }
}

/** Serves each page at its path, and what pages load by one route: one for each file is 20 ms of every start. */
export function servePages(app: FastifyInstance, pages: StaticPages): void {
  for (const [path, file] of pages) {
    if (OWN.includes(path) || path.startsWith(ASSETS)) continue
    app.get(path, (request, reply) => send(request, reply, file, 200))
  }
  app.get<{ Params: { '*': string } }>(`${ASSETS}*`, (request, reply) => {
    const file = pages.get(ASSETS + request.params['*'])
    return file ? send(request, reply, file, 200) : reply.callNotFound()
  })
}

export function sendNotFound(request: FastifyRequest, reply: FastifyReply, pages: StaticPages): unknown {
  const [path = '', ...query] = request.url.split('?')
  const withoutSlash = withoutEndSlashes(path)
  if (path.endsWith('/') && pages.has(withoutSlash)) return reply.redirect([withoutSlash, ...query].join('?'), 308)
  const page = pages.get(NOT_FOUND_PATH)
  return page ? send(request, reply, page, 404) : reply.code(404).send('Not found')
}

/** Past Fastify's own way of sending, which builds for each answer the headers that are known beforehand. */
function send(request: FastifyRequest, reply: FastifyReply, file: SiteFile, status: number): void {
  const chosen = file[preferred(request.headers['accept-encoding'])] ?? file.identity
  const unchanged = status === 200 && request.headers['if-none-match']?.includes(chosen.etag)
  reply.hijack()
  if (unchanged) reply.raw.writeHead(304, chosen.unchangedHeaders).end()
  else reply.raw.writeHead(status, chosen.headers).end(chosen.body, 'latin1')
}

function preferred(accepted = ''): keyof SiteFile {
  if (/\bbr\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(accepted)) return 'br'
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(accepted) ? 'gzip' : 'identity'
}
