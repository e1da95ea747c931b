import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { expect, it } from 'vitest'

const MAX_LINES = 200
/** One a side: the entry points, the application and tRPC. */
const ON_BOTH_SIDES = ['main', 'app', 'trpc']

const files = ['server', 'client', 'shared', 'prisma'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('database/generated/'))
    .map((path) => `${folder}/${path}`),
)

it('every file has a name of its own', () => {
  const byName = Map.groupBy(files, (file) => basename(file, extname(file)))
  const shared = [...byName].filter(([name, paths]) => paths.length > (ON_BOTH_SIDES.includes(name) ? 2 : 1))
  expect(shared).toEqual([])
})

it(`no file has more than ${MAX_LINES} lines`, () => {
  const lines = (file: string) => readFileSync(file, 'utf8').split('\n').length - 1
  expect(files.filter((file) => lines(file) > MAX_LINES)).toEqual([])
})

it('every package of the lock has a checksum, and none the address of a registry', () => {
  const lock: { packages: Record<string, { integrity?: string; resolved?: string }> } = JSON.parse(
    readFileSync('package-lock.json', 'utf8'),
  )
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
  expect(packages.length).toBeGreaterThan(0)
  expect(packages.filter(([, { integrity, resolved }]) => !integrity || resolved).map(([path]) => path)).toEqual([])
})
