// Every package of the lock file has a checksum and no registry address, and the installed Node is new enough.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { isOlder, NEEDED_NODE } from '../server/node-version.mjs'

it('every package of the lock has a checksum, and none the address of a registry', () => {
  const lock: { packages: Record<string, { integrity?: string; resolved?: string }> } = JSON.parse(
    readFileSync('package-lock.json', 'utf8'),
  )
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
  expect(packages.length).toBeGreaterThan(0)
  expect(packages.filter(([, { integrity, resolved }]) => !integrity || resolved).map(([path]) => path)).toEqual([])
})

it('the Node that npm ci installs is new enough for the code', () => {
  const { optionalDependencies }: { optionalDependencies: Record<string, string> } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  const installed = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('node-'))
  expect(installed.length).toBeGreaterThan(0)
  for (const [, version] of installed) expect(isOlder(version, NEEDED_NODE)).toBe(false)
})
