import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

const LINE_FEED = 0x0a

/**
 * The lines of a gzip stream, which is opened when the first of them is asked for: a damaged end of it that is found
 * before anybody listens would be an error that nobody catches.
 */
export async function* unzippedLines(open: () => Readable): AsyncGenerator<string> {
  yield* linesOf(pipeline(open(), createGunzip(), () => {})) // an error ends the lines too
}

/** The lines of a stream of bytes. Node's own reader also ends lines at characters that stand in people's texts. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let from = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, from)) {
      yield bytes.toString('utf8', from, end)
      from = end + 1
    }
    rest = bytes.subarray(from)
  }
  if (rest.length > 0) yield rest.toString('utf8')
}
