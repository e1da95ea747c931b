import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Writes the brotli and gzip forms of scripts and styles beside them, so that no request has to wait for it. */
export async function compressAssets(folder: string): Promise<void> {
  const names = await readdir(folder)
  const compressible = names.filter((name) => /\.(js|css|svg)$/.test(name))
  await Promise.all(
    compressible.map(async (name) => {
      const file = join(folder, name)
      const body = await readFile(file)
      await writeFile(`${file}.br`, await promisify(brotliCompress)(body))
      await writeFile(`${file}.gz`, await promisify(gzip)(body, { level: constants.Z_BEST_COMPRESSION }))
    }),
  )
}
