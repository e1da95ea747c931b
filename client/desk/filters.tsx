import { useEffect, useRef, useState } from 'react'
import { buyerTypes, products } from '../../shared/catalogue.ts'
import { closingReasons, DESK_PATH, SEARCH_MAX } from '../../shared/desk.ts'
import { orderFields } from '../../shared/order.ts'
import { dayName, daysAfter, todayHere } from './format.ts'
import { type Choice, shortName, staff } from './queries.ts'

/** After the last letter. */
const SEARCH_WAIT_MS = 300
const SEARCH_MIN = 2

export function Search({ text, onSearch }: { text: string; onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState(text)
  const wanted = typed.trim().length < SEARCH_MIN ? '' : typed.trim()
  const search = useRef(onSearch)
  search.current = onSearch
  /** What this box has asked for: another text was chosen elsewhere, as by a tab, which ends the search. */
  const own = useRef(text)
  useEffect(() => {
    if (text !== own.current) setTyped(text)
    own.current = text
  }, [text])
  useEffect(() => {
    if (wanted === own.current) return
    const timer = setTimeout(() => {
      own.current = wanted
      search.current(wanted)
    }, SEARCH_WAIT_MS)
    return () => clearTimeout(timer)
  }, [wanted])
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

const periods = {
  '': 'any time',
  today: 'today',
  week: 'in the last 7 days',
  month: 'this month',
  days: 'from … to …',
} as const
type Period = keyof typeof periods
type Days = Pick<Choice, 'from' | 'to'>

function daysOf(chosen: Period): Days {
  const today = todayHere()
  if (chosen === 'today') return { from: today, to: undefined }
  if (chosen === 'week') return { from: daysAfter(today, -6), to: undefined }
  if (chosen === 'month') return { from: `${today.slice(0, 8)}01`, to: undefined }
  return { from: undefined, to: undefined }
}

/** Days that were kept since yesterday are no longer "today". */
function periodOf({ from, to }: Days): Period {
  const names = Object.keys(periods) as Period[]
  return names.find((each) => each !== 'days' && daysOf(each).from === from && !to) ?? 'days'
}

/** Of whom the days tell: what was received then, or what somebody did then. */
const verbOf = ({ by, closedAs }: Choice) => (by || closedAs ? 'done' : 'received')

/** `received from Sun 22 Nov to today`; '' for any time. */
function daysWords(choice: Choice): string {
  const { from, to } = choice
  const verb = verbOf(choice)
  if (!from && !to) return ''
  if (from && from === (to ?? todayHere())) return `${verb} ${dayName(from)}`
  return [verb, from && `from ${dayName(from)}`, to && `to ${dayName(to)}`].filter(Boolean).join(' ')
}

interface FiltersProps {
  choice: Choice
  onChoose: (change: Partial<Choice>) => void
}

export function Filters({ choice, onChoose }: FiltersProps) {
  const { state, product, type, closedAs, by, from, to, order = 'newest' } = choice
  /** Days are typed. */
  const [isTyped, setIsTyped] = useState(false)
  const [isOpen, setIsOpen] = useState(false)
  const days = daysWords(choice)
  const period = isTyped ? 'days' : periodOf({ from, to })
  const verb = verbOf(choice).replace(/^./, (letter) => letter.toUpperCase())
  function choosePeriod(next: Period) {
    setIsTyped(next === 'days')
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
        {['closed', 'all'].includes(state) && (
          <Select
            label="Closed as"
            value={closedAs}
            options={{ '': 'All reasons', ...Object.fromEntries(closingReasons.map((each) => [each, each])) }}
            onChange={(value) => onChoose({ closedAs: value as Choice['closedAs'] })}
          />
        )}
        <Select
          label="By"
          value={by}
          options={{ '': 'By anybody', ...Object.fromEntries(staff().map((each) => [each, `By ${shortName(each)}`])) }}
          // Of all days it may be much, and a while.
          onChange={(value) => onChoose({ by: value, ...(value && !from && !to && daysOf('today')) })}
        />
        <Select
          label={verb}
          value={period}
          options={Object.fromEntries(Object.entries(periods).map(([name, words]) => [name, `${verb} ${words}`]))}
          onChange={(value) => choosePeriod((value ?? '') as Period)}
        />
        {period === 'days' && (
          <>
            <Day label="From" value={from} onChange={(day) => onChoose({ from: day })} />
            <Day label="To" value={to} onChange={(day) => onChoose({ to: day })} />
          </>
        )}
        {state !== 'toRing' && (
          <Select
            label="Order"
            value={order}
            options={{ newest: 'Newest first', oldest: 'Oldest first' }}
            onChange={(value) => onChoose({ order: value as 'newest' })}
          />
        )}
        <form method="post" action={`${DESK_PATH}/enquiries.csv`}>
          {Object.entries(choice).map(([name, value]) => (
            <input key={name} type="hidden" name={name} value={value ?? ''} />
          ))}
          <button type="submit">{days ? `Download CSV, ${days}` : 'Download CSV'}</button>
        </form>
      </div>
      <p className="buttons in-force">
        {order === 'oldest' && state !== 'toRing' && (
          <Chip text="Oldest first" onRemove={() => onChoose({ order: 'newest' })} />
        )}
        {product && <Chip text={product} onRemove={() => onChoose({ product: undefined })} />}
        {type && <Chip text={type} onRemove={() => onChoose({ type: undefined })} />}
        {closedAs && <Chip text={closedAs} onRemove={() => onChoose({ closedAs: undefined })} />}
        {by && <Chip text={`by ${shortName(by)}`} onRemove={() => onChoose({ by: undefined })} />}
        {days && <Chip text={days} onRemove={() => choosePeriod('')} />}
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
        onBlur={({ target }) => target.value !== value && onChange(target.value || undefined)}
        onChange={({ target }) => /^20/.test(target.value) && onChange(target.value)}
      />
    </label>
  )
}
