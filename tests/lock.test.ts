import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('every package of the lock has a checksum, and none the address of a registry', () => {
  const lock: { packages: Record<string, { integrity?: string; resolved?: string }> } = JSON.parse(
    readFileSync('package-lock.json', 'utf8'),
  )
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
  expect(packages.length).toBeGreaterThan(0)
  expect(packages.filter(([, { integrity, resolved }]) => !integrity || resolved).map(([path]) => path)).toEqual([])
})
