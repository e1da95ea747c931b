import { MutationObserver, onlineManager, useMutationState } from '@tanstack/react-query'
import { orderFieldNames, pickOrderFields } from '../../shared/order.ts'
import { answeredStatus } from '../trpc.ts'
import { type ActionName, actions, type Options, type Preview } from './actions.ts'
import { focusRow } from './focus.ts'
import { forget, KEPT_MS, type Change as KeptChange, keep, readKept } from './kept.ts'
import { showDone, showRefusal } from './message.ts'
import { client, type Fields, type Inputs, messageOf, type Row, receive, trpc, you } from './queries.ts'

/*
 * The changes that somebody makes: sent one after the other for an enquiry (one of several enquiries for the first of them), and
 * kept until they are stored or refused.
 */

export interface Change extends KeptChange {
  name: ActionName | 'add'
}

const KEY = ['change']
const RETRY_MAX_MS = 30_000
/** Answers of a server that may soon be well are asked for again so many times. */
const TRIES_MAX = 4

type Send = (input: object, options: { context: { author: string } }) => Promise<Row[]>

const lateMessage = ({ references }: Pick<Change, 'references'>) =>
  `A change of ${references.join(', ')} waited for more than twelve hours, and was not made.`

async function send(change: Change): Promise<Row[]> {
  if (Date.now() - change.at > KEPT_MS) throw new Error(lateMessage(change))
  return (trpc.desk[change.name].mutate as Send)(change.input, { context: { author: change.author } })
}

function isWorthRetrying(failures: number, error: Error): boolean {
  const status = answeredStatus(error)
  if (!status) return error.name === 'TRPCClientError' // no answer
  return (status >= 500 || status === 429) && failures < TRIES_MAX
}

/** What waits behind a refused change goes with it. */
function dropBehind(change: Change): number {
  const cache = client.getMutationCache()
  const behind = cache.findAll({
    mutationKey: KEY,
    status: 'pending',
    predicate: ({ state, options }) => state.variables !== change && options.scope?.id === change.references[0],
  })
  for (const mutation of behind) {
    forget(mutation.state.variables as Change)
    cache.remove(mutation)
  }
  return behind.length
}

function refuse(error: Error, change: Change) {
  if (answeredStatus(error) === 401) return // it waits for the same person to sign in again
  forget(change)
  const dropped = dropBehind(change)
  const also = dropped > 0 ? ` What you did after it was not done either (${dropped}).` : ''
  showRefusal(messageOf(error) + also, answeredStatus(error) !== 409)
}

/** Resolves with the rows as they are stored; rejects with the refusal. */
export function submit(change: Change): Promise<Row[]> {
  keep(change)
  const observer = new MutationObserver(client, {
    mutationKey: [...KEY, change.name],
    scope: { id: change.references[0] ?? change.input.key },
    mutationFn: send,
    retry: isWorthRetrying,
    retryDelay: (failures) => Math.min(1000 * 2 ** failures, RETRY_MAX_MS),
    onError: refuse,
    onSuccess(rows, change) {
      forget(change)
      receive(rows)
      tellDone(rows, change)
    },
    onSettled() {
      client.invalidateQueries({ queryKey: ['pulse'] })
      client.invalidateQueries({ queryKey: ['enquiry'] })
    },
  })
  return observer.mutate(change)
}

export function createChange(name: Change['name'], references: string[], input: object): Change {
  const key = crypto.randomUUID()
  return { name, input: { key, ...input }, references, author: you(), at: Date.now() }
}

/** Does what an action's button says. */
export function act<Name extends ActionName>(name: Name, row: Row, options: Options<Name>): void {
  const { input } = actions[name] as { input(row: Row, options: object): object }
  const given = input(row, options) as { references?: string[] }
  const change = createChange(name, given.references ?? [row.reference], given)
  submit(change).catch(() => {}) // refuse() has told it
}

/**
 * Changes what was typed in place of what the form began with. The other fields stay as they are now: a colleague may have
 * corrected them meanwhile. Resolves when it is stored, so that its form stays until then.
 */
export function submitCorrection(row: Row, began: Fields, typed: Fields): Promise<Row[]> {
  const changed = orderFieldNames.filter((name) => String(typed[name]) !== String(began[name]))
  const over = (fields: Fields) => ({
    ...pickOrderFields(row),
    ...Object.fromEntries(changed.map((name) => [name, fields[name]])),
  })
  const given = { was: over(began), now: over(typed) as Fields }
  return submit(createChange('correct', [row.reference], actions.correct.input(row, given)))
}

/** What cannot be taken back. */
const FINAL: Change['name'][] = ['takeBack', 'sendAgain', 'add', 'keep']
const TOAST_MS = { setSpam: 20_000 } as Partial<Record<Change['name'], number>>
const ADDED = 'entered, as Contacted. No mails go out'

function tellDone(rows: Row[], { name, input }: Change) {
  const [row] = rows
  if (!row) return
  const done = name === 'add' ? ADDED : (actions[name].done as (row: Row, input: object) => string)(row, input)
  const whom = rows.length === 1 ? row.name : `${rows.length} enquiries`
  const text = `: ${done}`
  showDone(
    ({ closeToast }) => (
      <>
        <span>
          <bdi>{whom}</bdi>
          <span>{text}</span>
        </span>
        {!FINAL.includes(name) && (
          <button
            type="button"
            onClick={() => {
              closeToast()
              focusRow(row.reference)
              act('takeBack', row, { of: input.key })
            }}
          >
            Take back
          </button>
        )}
      </>
    ),
    { autoClose: TOAST_MS[name] ?? 10_000 },
  )
}

/** On arrival: what waited in an earlier page is sent, in its order. */
export function resumeKept(): void {
  const waiting = client.getMutationCache().findAll({ mutationKey: KEY, status: 'pending' })
  const keys = waiting.map(({ state }) => (state.variables as Change).input.key)
  const { kept, late } = readKept(you())
  for (const change of kept) if (!keys.includes(change.input.key)) submit(change as Change).catch(() => {})
  if (late.length > 0) showRefusal(late.map(lateMessage).join(' '), true)
}

export interface Tried {
  change: Change
  status: 'idle' | 'pending' | 'success' | 'error'
  error: Error | null
  /** It was tried in vain, or there is no network. */
  isWaiting: boolean
}

/** The changes of this page, in their order. */
export function useChanges(): Tried[] {
  return useMutationState({
    filters: { mutationKey: KEY },
    select: ({ state }) => ({
      change: state.variables as Change,
      status: state.status,
      error: state.error,
      isWaiting: state.failureCount > 0 || (state.isPaused && !onlineManager.isOnline()),
    }),
  })
}

type Progress = 'storing' | 'waiting' | 'refused'

export interface Seen {
  /** With the changes that are not stored yet. */
  row: Row
  progress: Progress | undefined
  /** Why the last change was refused. */
  refusal: string | undefined
  /** What is under way. */
  doing: Change['name'][]
  /** The last change of this page, unless it was refused. */
  own: Change | undefined
}

export function seenWith(stored: Row, tried: Tried[]): Seen {
  const of = tried.filter(({ change }) => change.references.includes(stored.reference))
  const pending = of.filter(({ status }) => status === 'pending')
  const takenBack = pending.map(({ change }) => change.name === 'takeBack' && (change.input as Inputs['takeBack']).of)
  let row = stored
  for (const { change } of pending) {
    const { name, input } = change
    // A change of which the server has told already counts once.
    if (name === 'add' || takenBack.includes(input.key) || stored.last?.key === input.key) continue
    const preview = actions[name].preview as ((row: Row, input: object) => Preview) | undefined
    const last = { key: input.key, what: 'not stored yet', who: change.author, at: new Date(change.at).toISOString() }
    row = { ...row, ...(preview?.(row, input) as Partial<Row>), ...(name !== 'takeBack' && { last }) }
  }
  const latest = of.at(-1)
  const refusal = latest?.error ? messageOf(latest.error) : undefined
  const own = latest?.error ? undefined : latest?.change
  return { row, progress: progressOf(pending, latest), refusal, own, doing: pending.map(({ change }) => change.name) }
}

function progressOf(pending: Tried[], latest: Tried | undefined): Progress | undefined {
  if (pending.some(({ isWaiting }) => isWaiting)) return 'waiting'
  if (pending.length > 0) return 'storing'
  return latest?.status === 'error' ? 'refused' : undefined
}
