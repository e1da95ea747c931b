import type { ReactNode } from 'react'
import { brand } from '../../shared/brand.ts'
import { buyerTypes, products } from '../../shared/catalogue.ts'
import { type OrderField, orderFields } from '../../shared/order.ts'
import { choose, doubtTexts, helpTexts, labelNotes, optionalNote } from '../content/enquiry-form.ts'
import { Address } from '../ui/text.tsx'
import type { Doubts } from './doubts.ts'

/** Height of the header and the space below it. */
const HEADER_SPACE_PX = 120

interface OrderFieldsProps {
  fieldErrors: Record<string, string>
  doubts: Doubts
  /** Puts the address that was probably meant into its field. */
  onTakeEmail: (email: string) => void
  /** The values at first. */
  values?: Record<string, string> | undefined
  /** The key that a page of a failure holds, for a browser that posts it again. */
  submissionKey?: string | undefined
  /** True while the order is being sent: later typing would not be part of it. */
  isLocked: boolean
  isHidden: boolean
}

/**
 * The inputs of the order form, uncontrolled: what is typed before hydration stays. Visible ones never have
 * `autoComplete="off"`, which would empty them on the way back to the page.
 */
export function OrderFields({
  fieldErrors,
  doubts,
  onTakeEmail,
  values = {},
  submissionKey,
  isLocked,
  isHidden,
}: OrderFieldsProps) {
  function field(name: OrderField) {
    const { max: maxLength, optional } = orderFields[name]
    const notes = [fieldErrors[name] && 'error', doubtAt(name) && 'doubt', helpTexts[name] && 'help'].filter(Boolean)
    return {
      id: `order-${name}`,
      name,
      required: !optional,
      maxLength,
      defaultValue: values[name],
      'aria-invalid': fieldErrors[name] ? true : undefined,
      'aria-describedby': notes.map((note) => `order-${name}-${note}`).join(' ') || undefined,
      'data-doubted': doubtAt(name) ? true : undefined,
    }
  }
  const doubtAt = (name: OrderField) => !fieldErrors[name] && doubts[name as keyof Doubts]
  const about = (name: OrderField) => ({ name, error: fieldErrors[name] })
  return (
    <div className="fields" inert={isLocked} hidden={isHidden}>
      <Field {...about('name')}>
        <input {...field('name')} autoComplete="name" autoCapitalize="words" enterKeyHint="next" />
      </Field>
      <Field
        {...about('email')}
        doubt={
          doubtAt('email') && (
            <>
              {doubtTexts.email}
              <button type="button" className="pill" onClick={() => onTakeEmail(doubts.email ?? '')}>
                <Address>{doubts.email ?? ''}</Address>
              </button>
              <span>{doubtTexts.emailKept}</span>
            </>
          )
        }
      >
        <input
          {...field('email')}
          type="email"
          inputMode="email"
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
          enterKeyHint="next"
        />
      </Field>
      <Field {...about('mobile')} doubt={doubtAt('mobile')}>
        <div className="with-sign">
          <input {...field('mobile')} type="tel" inputMode="tel" autoComplete="tel" enterKeyHint="next" />
          <span aria-hidden="true">+91</span>
        </div>
      </Field>
      <Field {...about('quantity')}>
        <input {...field('quantity')} type="number" min={1} inputMode="numeric" enterKeyHint="next" />
      </Field>
      <Field {...about('retailerSelfUse')}>
        <Choice {...field('retailerSelfUse')} options={buyerTypes} />
      </Field>
      <Field {...about('products')}>
        <Choice {...field('products')} options={products} />
      </Field>
      <input type="hidden" name="productName" value={brand.name} />
      {submissionKey && <input type="hidden" name="submissionKey" value={submissionKey} />}
      {/* Honeypot: only programs fill it in. */}
      <div className="visually-hidden" aria-hidden="true">
        <label htmlFor="order-website">Website</label>
        <input id="order-website" name="website" tabIndex={-1} autoComplete="off" />
      </div>
    </div>
  )
}

interface FieldProps {
  name: OrderField
  error: string | undefined
  /** In a live region: it is announced. */
  doubt?: ReactNode
  children: ReactNode
}

function Field({ name, error, doubt, children }: FieldProps) {
  const { label, max, optional } = orderFields[name]
  const note = labelNotes[name] ?? (optional && optionalNote(max))
  return (
    <div className="field">
      <label htmlFor={`order-${name}`}>
        {label} {note && <span className="small">{note}</span>}
      </label>
      {children}
      {error && (
        <p className="field-error" id={`order-${name}-error`}>
          {error}
        </p>
      )}
      {doubt !== undefined && (
        <div aria-live="polite">
          {doubt && (
            <p className="field-doubt" id={`order-${name}-doubt`}>
              {doubt}
            </p>
          )}
        </div>
      )}
      {helpTexts[name] && (
        <p className="small" id={`order-${name}-help`}>
          {helpTexts[name]}
        </p>
      )}
    </div>
  )
}

interface ChoiceProps {
  id: string
  name: string
  options: readonly string[]
  defaultValue: string | undefined
}

function Choice({ options, defaultValue = '', ...select }: ChoiceProps) {
  return (
    <div className="with-sign">
      <select {...select} defaultValue={options.includes(defaultValue) ? defaultValue : ''}>
        <option value="" disabled hidden>
          {choose}
        </option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
      <svg viewBox="0 0 12 8" aria-hidden="true">
        <path d="M1 1.5l5 5 5-5" fill="none" stroke="currentColor" strokeWidth="1.6" />
      </svg>
    </div>
  )
}

/** The toast stands at the top of the form: it is shown together with the first wrong field where both fit on the screen. */
export function showFirstError(form: HTMLFormElement) {
  const first = form.querySelector<HTMLElement>('[aria-invalid]')
  const field = first?.closest('.field')
  if (!first || !field) return
  first.focus({ preventScroll: true })
  const height = field.getBoundingClientRect().bottom - form.getBoundingClientRect().top
  const target = height < innerHeight - HEADER_SPACE_PX ? form : field
  target.scrollIntoView({ block: 'start' })
}
