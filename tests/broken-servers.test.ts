// The code that each deliberately broken server replaces still occurs exactly once in its file.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { variants } from './support/broken-servers.ts'

it.each(variants)(
  'the server that $broken can still be made of $file, for the faults before a release',
  ({ file, from }) => {
    expect(readFileSync(resolve(import.meta.dirname, '..', file), 'utf8').split(from)).toHaveLength(2)
  },
)
