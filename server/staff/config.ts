import { type Env, envSchema, readEnv } from '../env.ts'
import { type AddCommand, type Column, printTable, type Terminal } from './output.ts'

type Name = keyof Env
interface Setting {
  name: Name
  value: string
  isDefault: boolean
}

const columns: Column<Setting>[] = [
  { title: 'Variable', cell: ({ name }) => name },
  { title: 'Value', cell: ({ value }) => value },
  { title: '', cell: ({ isDefault }) => (isDefault ? 'default' : '') },
]

export function configCommand(add: AddCommand, terminal: Terminal) {
  add('config')
    .summary('show each setting as the site would have it; secrets are hidden')
    .action(() => {
      const [env, defaults] = [terminal.env(), readEnv({})]
      const settings = (Object.keys(envSchema.shape) as Name[]).map((name) => ({
        name,
        value: shown(name, env[name]),
        isDefault: String(env[name]) === String(defaults[name]),
      }))
      printTable(terminal, columns, settings)
    })
}

/** An address may hold a password, or be a secret itself behind its host. */
function shown(name: Name, value: Env[Name]): string {
  if (value === undefined || String(value) === '') return '-'
  if (/_(KEY|SECRET)$/.test(name)) return 'set, hidden'
  if (name === 'NOTIFY_URL') return `${new URL(String(value)).origin}/…`
  if (!name.endsWith('DATABASE_URL')) return String(value)
  const url = new URL(String(value))
  if (url.password) url.password = 'hidden'
  if (url.searchParams.has('password')) url.searchParams.set('password', 'hidden')
  return url.href
}
