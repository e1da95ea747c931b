// Each link, file, script and staff command that the documents name exists. Other commands: tests/release.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { staff } from './support/staff-command.ts'

const PROGRAMS =
  /^(?:[A-Z_]+=\S+ )*(?:npm|npx|node|docker|git|psql|pg_dump|pg_restore|createdb|ssh|curl|apt-get|patronictl|useradd|journalctl|systemctl|runuser|chown|cp|mkdir) \S/
const STAFF = /(?:npm run (?:-s )?staff -- |staff\.js |^(?:\w+=\S+ )?quvera-staff |^staff )(.*)/

/** No server answers there: what is understood ends with 1. */
const NOWHERE = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/nothing' }

/** `Name a command: list, show, … See --help.` */
const names = new Set((await staff([], NOWHERE)).stderr.match(/[a-z-]+(?=[,.])/g))

/** The words that are given to the staff command, with something in the places that the reader fills in. */
function staffWords(command: string): string[] | undefined {
  const [words = ''] = (STAFF.exec(command)?.[1] ?? command).split(/ [|<>] /)
  if (!names.has(words.split(' ')[0] ?? '')) return undefined
  return words
    .replace(/EMAIL\|MOBILE|ADDRESS|\S*@…|(?<=--person )…/, 'asha@shop.example')
    .replace('REFERENCE', 'QV-7K3M9P')
    .replace(/\$\([^)]*\)/, 'today')
    .replace(/\bID\b/, '7')
    .match(/"[^"]*"|\S+/g)
    ?.map((word) => word.replaceAll('"', ''))
}

function commandsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const fence = /^```sh\n(.*?)^```/gms
  const lines = [...text.matchAll(fence)].flatMap(([, block = '']) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
  const typed = lines.map((line) => line.replace(/\s{2,}#.*/, '').trim()).filter(Boolean)
  const inline = [...text.replaceAll(fence, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
  return [...typed, ...inline.filter((code) => code.includes(' ') && (PROGRAMS.test(code) || staffWords(code)))]
}

const files = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')]
const commands = [...new Set(files.flatMap(commandsOf))]

it('the staff command understands each of its words in the documents', async () => {
  const given = commands.map(staffWords).filter((words) => words !== undefined)
  expect(given.length).toBeGreaterThan(30)
  const answers = await Promise.all(given.map(async (words) => ({ words, ...(await staff(words, NOWHERE)) })))
  // A command is also spoken of by its name alone.
  const isName = ({ words, stderr }: (typeof answers)[number]) =>
    words.length < 3 && /^(missing required argument|Name the mails)/.test(stderr)
  expect(answers.filter((answer) => answer.code === 2 && !isName(answer))).toEqual([])
})

it('each script that the documents name is there', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const named = commands.flatMap((command) =>
    [...command.matchAll(/npm (?:run (?:-s )?)?((?!ci\b|run\b)[a-z:]+)/g)].map(([, name]) => name),
  )
  for (const name of named) expect(Object.keys(scripts)).toContain(name)
})

/** As GitHub names the headings of a document. */
function anchorsOf(file: string): string[] {
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

it.each([...files, 'SECURITY.md'])(
  '%s: each link leads to a file and a heading, and each file it names is there',
  (document) => {
    const text = readFileSync(document, 'utf8')
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path, anchor] = target.split('#')
      const file = path ? join(dirname(document), path) : document
      expect(existsSync(file), target).toBe(true)
      if (anchor) expect(anchorsOf(file), target).toContain(anchor)
    }
    const named = text.matchAll(/`((?:client|deploy|docs|prisma|server|shared|tests)\/[\w./*-]+)`/g)
    for (const [, path = ''] of named) expect(globSync(path), path).not.toEqual([])
  },
)
