import { PassThrough, Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { unzippedLines } from '../../server/staff/backup-file.ts'

const zipped = gzipSync('first\nsecond \u2028 line\n')

describe('the lines of a gzip file', () => {
  it('come out of gzip as they went in', async () => {
    const input = new PassThrough()
    input.end(zipped)
    expect(await Readable.from(unzippedLines(() => input)).toArray()).toEqual(['first', 'second \u2028 line'])
  })

  it.each([
    ['before anybody reads', 0],
    ['while the first line is worked on', 1],
  ])('of a file that ends too soon are an error for who reads: it ends %s', async (_when, read) => {
    const input = new PassThrough()
    const lines = unzippedLines(() => input)
    input.write(zipped.subarray(0, -4))
    if (read > 0) expect(await lines.next()).toEqual({ done: false, value: 'first' })
    await pause(50) // what came is unpacked before the end is known
    input.end()
    await pause(50) // the database takes its time
    await expect(Readable.from(lines).toArray()).rejects.toThrow('unexpected end of file')
  })
})
