import type { ReactNode } from 'react'
import { brand } from '../../shared/brand.ts'
import { nextSteps } from '../../shared/next-steps.ts'
import { type OrderContent, orderFieldNames, orderFields } from '../../shared/order.ts'
import { type FormFields, plainMobile, readEmail, readText } from '../../shared/typed-text.ts'
import { mobileInGroups } from '../../shared/visitor-contact.ts'
import { slip } from '../content/enquiry-form.ts'
import { Address } from '../ui/text.tsx'

export type SlipContent = Partial<
  Record<'products' | 'quantity' | 'from' | 'mobile' | 'email' | 'receivedAt', string | undefined>
>

/**
 * The fields of a form. Not by `FormData`, whose event would tell `addKey` that the browser posts the form. If the browser
 * cannot read a number, the field's value is ''. NaN makes it a wrong number and not an empty field.
 */
export function formFieldsOf(form: HTMLFormElement): FormFields {
  return {
    get(name) {
      const field = form.elements.namedItem(name) as HTMLInputElement | null
      return field?.validity.badInput ? 'NaN' : (field?.value ?? null)
    },
  }
}

/** What is typed so far, as it will be sent; without a quantity that would be refused. */
export function readSlip(form: HTMLFormElement | null): SlipContent {
  if (!form) return {}
  const fields = formFieldsOf(form)
  const quantity = readText(fields, 'quantity')
  return {
    products: readText(fields, 'products'),
    quantity: Number(quantity) >= 1 ? quantity : '',
    from: fromOf({ name: readText(fields, 'name'), retailerSelfUse: readText(fields, 'retailerSelfUse') }),
    mobile: plainMobile(readText(fields, 'mobile')),
    email: readEmail(fields),
  }
}

/** What is typed into the form to send an order. */
export function valuesOf(order: OrderContent): Record<string, string> {
  return Object.fromEntries(orderFieldNames.map((field) => [field, String(order[field])]))
}

export function fromOf({ name, retailerSelfUse }: { name: string; retailerSelfUse: string }): string {
  return [name.trim(), retailerSelfUse].filter(Boolean).join(', ')
}

interface OrderSlipProps {
  content: SlipContent
  /** Of a received enquiry. */
  reference?: string
  /** So many of its steps are done. Without it none is shown: nothing happens next. */
  done?: number | undefined
  /** A button that needs a script. */
  hasCopy?: boolean
  /** Stands under the reference. */
  next?: ReactNode
  /** Buttons. */
  children?: ReactNode
}

/** A paper slip: what is asked for, and how we reach the visitor. It fills as one types; once received it is the confirmation. */
export function OrderSlip({ content, reference, done, hasCopy = true, next, children }: OrderSlipProps) {
  const { products, quantity, from, mobile, email, receivedAt } = content
  return (
    <div className="slip">
      <p className="slip-title">{reference ? slip.reference : slip.title}</p>
      {reference && (
        <div className="submit-row">
          <p className="reference">{reference}</p>
          {hasCopy && (
            <button type="button" className="pill copy-button" aria-live="polite">
              Copy
            </button>
          )}
        </div>
      )}
      {next}
      <table>
        <tbody>
          <Row label={orderFields.products.label} isKept={!reference} value={products} />
          <Row label={orderFields.quantity.label} isKept={!reference} value={quantity && slip.packs(quantity)} />
          <Row label={slip.from} isKept={!reference} value={from} dir="auto" />
          <Row label={slip.mobile} isKept={!reference} value={mobile && shownMobile(mobile)} />
          <Row label={slip.email} isKept={!reference} value={email} />
          <Row label="Received" isKept={false} value={receivedAt} />
        </tbody>
      </table>
      {done !== undefined && <Stages done={done} />}
      {children}
      <p className="slip-maker">
        {brand.company}, {brand.address.city}
      </p>
    </div>
  )
}

interface RowProps {
  label: string
  value: string | undefined
  /** Also while it is empty. */
  isKept: boolean
  dir?: 'ltr' | 'auto'
}

function Row({ label, value, isKept, dir = 'ltr' }: RowProps) {
  if (!value && !isKept) return null
  return (
    <tr>
      <th scope="row">{label}</th>
      {/* The key makes React draw anew what a translation tool may have changed. */}
      <td key={value}>
        {value && (
          <bdi dir={dir}>
            <Address>{value}</Address>
          </bdi>
        )}
      </td>
    </tr>
  )
}

function shownMobile(mobile: string) {
  return /^\d/.test(mobile) ? `+91 ${mobileInGroups(mobile)}` : mobile
}

/** @param done so many */
export function Stages({ done = 0 }: { done?: number }) {
  return (
    <ol className="steps">
      {nextSteps.map((step, index) => (
        <li key={step.title} data-done={index < done}>
          <strong>{step.title}</strong> {index < done && <span className="visually-hidden">(done)</span>}{' '}
          {index < done ? step.done : step.text}
        </li>
      ))}
    </ol>
  )
}
