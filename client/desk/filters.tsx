import { useEffect, useRef, useState } from 'react'
import { buyerTypes, products } from '../../shared/catalogue.ts'
import { DESK_PATH, SEARCH_MAX } from '../../shared/desk.ts'
import { orderFields } from '../../shared/order.ts'
import { dayName, daysAfter, todayHere } from './format.ts'
import type { Choice } from './queries.ts'

/** After the last letter. */
const SEARCH_WAIT_MS = 300
const SEARCH_MIN = 2

export function Search({ text, onSearch }: { text: string; onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState(text)
  const wanted = typed.trim().length < SEARCH_MIN ? '' : typed.trim()
  const search = useRef(onSearch)
  search.current = onSearch
  useEffect(() => {
    if (wanted === text) return
    const timer = setTimeout(() => search.current(wanted), SEARCH_WAIT_MS)
    return () => clearTimeout(timer)
  }, [wanted, text])
  // A tab that is pressed ends the search.
  useEffect(() => {
    if (text === '') setTyped((now) => (now.trim().length < SEARCH_MIN ? now : ''))
  }, [text])
  return (
    <search className="search">
      <label htmlFor="text" className="visually-hidden">
        Search everything: name, address, number, reference or note
      </label>
      <input
        id="text"
        type="search"
        autoComplete="off"
        maxLength={SEARCH_MAX}
        placeholder="Search everything"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </search>
  )
}

const received = {
  '': 'Received any time',
  today: 'Received today',
  week: 'In 7 days',
  month: 'This month',
  days: 'From … to …',
} as const
type Received = keyof typeof received
type Days = Pick<Choice, 'from' | 'to'>

function daysOf(chosen: Received): Days {
  const today = todayHere()
  if (chosen === 'today') return { from: today, to: undefined }
  if (chosen === 'week') return { from: daysAfter(today, -6), to: undefined }
  if (chosen === 'month') return { from: `${today.slice(0, 8)}01`, to: undefined }
  return { from: undefined, to: undefined }
}

/** Days that were kept since yesterday are no longer "today". */
function choiceOf({ from, to }: Days): Received {
  const names = Object.keys(received) as Received[]
  return names.find((each) => each !== 'days' && daysOf(each).from === from && !to) ?? 'days'
}

/** `received from Sun 22 Nov to today`; '' for any time. */
function receivedWords({ from, to }: Days): string {
  if (!from && !to) return ''
  if (from && from === (to ?? todayHere())) return `received ${dayName(from)}`
  return ['received', from && `from ${dayName(from)}`, to && `to ${dayName(to)}`].filter(Boolean).join(' ')
}

interface FiltersProps {
  choice: Choice
  onChoose: (change: Partial<Choice>) => void
}

export function Filters({ choice, onChoose }: FiltersProps) {
  const { product, type, from, to, order = 'newest' } = choice
  const [chosen, setChosen] = useState<Received>(() => choiceOf({ from, to }))
  const [isOpen, setIsOpen] = useState(false)
  const days = receivedWords({ from, to })
  function chooseReceived(next: Received) {
    setChosen(next)
    if (next !== 'days') onChoose(daysOf(next))
  }
  return (
    <>
      <button type="button" className="filters-button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        Filters
      </button>
      <div className="filters" data-open={isOpen || undefined}>
        <Select
          label={orderFields.products.label}
          value={product}
          options={{ '': 'All products', ...Object.fromEntries(products.map((each) => [each, each])) }}
          onChange={(value) => onChoose({ product: value as Choice['product'] })}
        />
        <Select
          label={orderFields.retailerSelfUse.label}
          value={type}
          options={{ '': 'All buyers', ...Object.fromEntries(buyerTypes.map((each) => [each, each])) }}
          onChange={(value) => onChoose({ type: value as Choice['type'] })}
        />
        <Select
          label="Received"
          value={chosen}
          options={received}
          onChange={(value) => chooseReceived((value ?? '') as Received)}
        />
        {chosen === 'days' && (
          <>
            <Day label="From" value={from} onChange={(day) => onChoose({ from: day })} />
            <Day label="To" value={to} onChange={(day) => onChoose({ to: day })} />
          </>
        )}
        <Select
          label="Order"
          value={order}
          options={{ newest: 'Newest first', oldest: 'Oldest first' }}
          onChange={(value) => onChoose({ order: value as 'newest' })}
        />
        <form method="post" action={`${DESK_PATH}/enquiries.csv`}>
          {Object.entries(choice).map(([name, value]) => (
            <input key={name} type="hidden" name={name} value={value ?? ''} />
          ))}
          <button type="submit">{days ? `Download CSV, ${days}` : 'Download CSV'}</button>
        </form>
      </div>
      <p className="buttons in-force">
        {order === 'oldest' && choice.state !== 'toRing' && (
          <Chip text="Oldest first" onRemove={() => onChoose({ order: 'newest' })} />
        )}
        {product && <Chip text={product} onRemove={() => onChoose({ product: undefined })} />}
        {type && <Chip text={type} onRemove={() => onChoose({ type: undefined })} />}
        {days && <Chip text={days} onRemove={() => chooseReceived('')} />}
      </p>
    </>
  )
}

/** What is in force is seen, also where the filters are closed, and ended by a press. */
function Chip({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <button type="button" className="chip" onClick={onRemove}>
      <span className="visually-hidden">Remove:</span> <span>{text}</span> <span aria-hidden="true">×</span>
    </button>
  )
}

interface SelectProps {
  label: string
  value: string | undefined
  options: Record<string, string>
  onChange: (value: string | undefined) => void
}

function Select({ label, value = '', options, onChange }: SelectProps) {
  return (
    <select aria-label={label} value={value} onChange={({ target }) => onChange(target.value || undefined)}>
      {Object.entries(options).map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  )
}

interface DayProps {
  label: string
  value: string | undefined
  onChange: (day: string | undefined) => void
}

function Day({ label, value = '', onChange }: DayProps) {
  return (
    <label className="day">
      <span>{label}</span>
      <input
        type="date"
        defaultValue={value}
        onBlur={({ target }) => onChange(target.value || undefined)}
        onChange={({ target }) => /^20/.test(target.value) && onChange(target.value)}
      />
    </label>
  )
}
