// Every regular expression of the project takes time in proportion to the text, whatever text comes.
import { globSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { parseSync } from 'vite'
import { describe, expect, it } from 'vitest'
import { withoutEndSlashes } from '../../shared/page-paths.ts'

/** The short one first: what grows with the cube of the length would take an hour for the long one. */
const LENGTHS = [2000, 30_000]
/** A hundred times what a pattern needs whose time grows with the length, and a tenth of what the square takes. */
const ENOUGH_MS = 50

const sources = globSync('{server,client,shared,prisma}/**/*.{ts,tsx,mjs}').filter(
  (file) => !file.includes('generated'),
)
const patterns = sources.flatMap(patternsOf)

function patternsOf(file: string) {
  const found: { file: string; pattern: RegExp }[] = []
  JSON.stringify(parseSync(file, readFileSync(file, 'utf8')).program, (_key, node) => {
    if (node?.regex) found.push({ file, pattern: new RegExp(node.regex.pattern, node.regex.flags) })
    return typeof node === 'bigint' ? String(node) : node
  })
  return found
}

/** The fastest of up to three tries, because a test shares the machine. */
function fastest(action: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 3 && best > ENOUGH_MS; tries++) {
    const start = performance.now()
    action()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

/** What the pattern speaks of, and what lies between: repeated, they are the inputs that patterns stumble over. */
function piecesOf({ source }: RegExp): string[] {
  const literals = source.replaceAll(/\\([^a-zA-Z0-9])/g, '$1').match(/[\w <>"=:/@.-]+/g) ?? []
  return [...new Set([...literals, ...literals.flatMap((text) => [...text]), ...' a0/-.\n@;"<é'])]
}

describe('every pattern of the project takes time in proportion to the text', () => {
  it('and all are found', () => expect(patterns.length).toBeGreaterThan(30))

  it.each(patterns)('$file $pattern', ({ pattern }) => {
    const piece = fc.constantFrom(...piecesOf(pattern))
    const start = fc.oneof(fc.constant(''), piece)
    const unit = fc.oneof({ weight: 2, arbitrary: piece }, fc.array(piece, { minLength: 2, maxLength: 3 }))
    const check = (begin: string, repeated: string, end: string) => {
      for (const length of LENGTHS) {
        const text = begin + repeated.repeat(length / repeated.length) + end
        expect(
          fastest(() => text.replace(pattern, '')),
          JSON.stringify(text.slice(0, 40)),
        ).toBeLessThan(ENOUGH_MS)
      }
    }
    for (const one of piecesOf(pattern)) check('', one, '\u0000')
    fc.assert(
      fc.property(start, unit, start, (begin, pieces, end) => check(begin, [pieces].flat().join(''), `${end}\u0000`)),
      { numRuns: 30, endOnFailure: true },
    )
  })
})

it('a path of nothing but slashes costs no time', () => {
  expect(withoutEndSlashes('/'.repeat(1_000_000))).toBe('/')
  expect(fastest(() => withoutEndSlashes(`/${'/'.repeat(1_000_000)}x`))).toBeLessThan(ENOUGH_MS)
  expect(withoutEndSlashes('/buy-now//')).toBe('/buy-now')
})
