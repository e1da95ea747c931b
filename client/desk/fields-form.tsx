import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { buyerTypes, products } from '../../shared/catalogue.ts'
import { NOTE_MAX, noteMessages } from '../../shared/desk.ts'
import {
  checkOrder,
  messages,
  type OrderField,
  orderFieldNames,
  orderFields,
  type Problem,
  pickOrderFields,
  readOrderFields,
} from '../../shared/order.ts'
import type { Fields } from './queries.ts'

/** By the rules of the visitors' form, but that an enquiry by phone may have no address. */
function check(form: FormData, mayLackEmail: boolean): { fields: Fields } | { problem: Problem } {
  const checked = checkOrder(form)
  const fields = pickOrderFields(readOrderFields(form)) as Fields
  if (!('problem' in checked)) return { fields }
  const { email: ofEmail, ...others } = checked.problem.fields
  const broken = mayLackEmail && ofEmail === messages.empty ? others : checked.problem.fields
  return Object.keys(broken).length > 0 ? { problem: { ...checked.problem, fields: broken } } : { fields }
}

interface FieldsFormProps {
  values?: Record<OrderField, string | number>
  mayLackEmail: boolean
  isStoring: boolean
  submitLabel: string
  /** With a field for a note. */
  mayHaveNote?: boolean
  onSubmit: (fields: Fields, note: string) => void
}

/** The fields of an enquiry: to correct one, or to enter one. */
export function FieldsForm({ values, mayLackEmail, isStoring, submitLabel, mayHaveNote, onSubmit }: FieldsFormProps) {
  const id = useId()
  const [errors, setErrors] = useState<Record<string, string>>({})
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (isStoring) return
    const form = event.currentTarget
    const typed = new FormData(form)
    const checked = check(typed, mayLackEmail)
    const note = String(typed.get('note') ?? '').trim()
    const broken = {
      ...('problem' in checked && checked.problem.fields),
      ...(note.length > NOTE_MAX && { note: noteMessages.long }),
    }
    setErrors(broken)
    const [first] = [...orderFieldNames, 'note'].filter((name) => name in broken)
    if (first) form.querySelector<HTMLElement>(`[name="${first}"]`)?.focus()
    else if ('fields' in checked) onSubmit(checked.fields, note)
  }
  /** What is being mended is not wrong any more; it is checked again by the button. */
  function forgive({ target }: FormEvent<HTMLFormElement>) {
    const { name } = target as unknown as HTMLInputElement
    setErrors(({ [name]: _, ...others }) => others)
  }
  function field(name: OrderField | 'note') {
    return {
      id: `${id}${name}`,
      name,
      defaultValue: name === 'note' ? undefined : values?.[name],
      autoComplete: 'off',
      'aria-invalid': errors[name] ? true : undefined,
      'aria-describedby': errors[name] ? `${id}${name}-error` : undefined,
    }
  }
  /** Of a field that is not a plain text. */
  const inputs: Partial<Record<OrderField, ReactNode>> = {
    name: <input {...field('name')} autoCapitalize="words" />,
    email: <input {...field('email')} inputMode="email" autoCapitalize="none" spellCheck={false} />,
    mobile: <input {...field('mobile')} inputMode="tel" />,
    quantity: <input {...field('quantity')} inputMode="numeric" />,
    retailerSelfUse: <Choice {...field('retailerSelfUse')} options={buyerTypes} />,
    products: <Choice {...field('products')} options={products} />,
  }
  return (
    <form className="fields-form" noValidate onSubmit={submit} onInput={forgive}>
      {orderFieldNames.map((name) => (
        <div className="field" key={name}>
          <label htmlFor={`${id}${name}`}>{labelOf(name, mayLackEmail)}</label>
          {inputs[name] ?? <input {...field(name)} />}
          <FieldError id={`${id}${name}-error`} text={errors[name]} />
        </div>
      ))}
      {mayHaveNote && (
        <div className="field">
          <label htmlFor={`${id}note`}>Note, if there is one. The person may ask to read it.</label>
          <textarea {...field('note')} rows={2} />
          <FieldError id={`${id}note-error`} text={errors.note} />
        </div>
      )}
      <p className="buttons">
        <button type="submit" className="primary" aria-disabled={isStoring}>
          {isStoring ? 'Storing …' : submitLabel}
        </button>
      </p>
    </form>
  )
}

function labelOf(name: OrderField, mayLackEmail: boolean): string {
  const { label, optional } = orderFields[name]
  if (optional || (name === 'email' && mayLackEmail)) return `${label}, if there is one`
  return name === 'mobile' ? `${label}, 10 digits` : label
}

function FieldError({ id, text }: { id: string; text: string | undefined }) {
  return text ? (
    <p className="field-error" id={id}>
      {text}
    </p>
  ) : null
}

interface ChoiceProps {
  options: readonly string[]
  defaultValue: string | number | undefined
}

function Choice({ options, defaultValue = '', ...select }: ChoiceProps) {
  return (
    <select {...select} defaultValue={defaultValue}>
      <option value="" disabled hidden>
        Please choose
      </option>
      {options.map((option) => (
        <option key={option}>{option}</option>
      ))}
    </select>
  )
}
