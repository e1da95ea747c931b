import type { ReactNode } from 'react'
import { brand } from '../../shared/brand.ts'
import { plainMobile, readEmail, readText } from '../../shared/typed-text.ts'
import { mobileInGroups } from '../../shared/visitor-contact.ts'
import { nextSteps, slip } from '../content/enquiry-form.ts'
import { Address } from '../ui/text.tsx'
import { fieldsOf } from './order-sender.tsx'

export type SlipContent = Partial<
  Record<'products' | 'quantity' | 'from' | 'mobile' | 'email' | 'receivedAt', string | undefined>
>

/** What is typed so far, as it will be sent; without a quantity that would be refused. */
export function readSlip(form: HTMLFormElement | null): SlipContent {
  if (!form) return {}
  const text = (name: string) => readText(fieldsOf(form), name)
  const quantity = text('quantity')
  return {
    products: text('products'),
    quantity: Number(quantity) >= 1 ? quantity : '',
    from: fromOf({ name: text('name'), retailerSelfUse: text('retailerSelfUse') }),
    mobile: plainMobile(text('mobile')),
    email: readEmail(fieldsOf(form)),
  }
}

export function fromOf({ name, retailerSelfUse }: { name: string; retailerSelfUse: string }): string {
  return [name.trim(), retailerSelfUse].filter(Boolean).join(', ')
}

interface OrderSlipProps {
  content: SlipContent
  /** Of a received enquiry. */
  reference?: string
  /** Buttons. */
  children?: ReactNode
}

/** A paper slip: what is asked for, and how we reach the visitor. It fills as one types; once received it is the confirmation. */
export function OrderSlip({ content, reference, children }: OrderSlipProps) {
  const { products, quantity, from, mobile, email, receivedAt } = content
  const rows = Object.entries({
    Product: products,
    Quantity: quantity,
    [slip.from]: from,
    [slip.mobile]: mobile && (mobile.startsWith('+') ? mobile : `+91 ${mobileInGroups(mobile)}`),
    [slip.email]: email,
    Received: receivedAt,
  }).filter(([label, value]) => value || (!reference && label !== 'Received'))
  return (
    <div className="slip">
      <p className="slip-title">{reference ? slip.reference : slip.title}</p>
      {reference && (
        <div className="submit-row">
          <p className="reference">{reference}</p>
          <button type="button" className="pill copy-button" aria-live="polite">
            Copy
          </button>
        </div>
      )}
      <table>
        <tbody>
          {rows.map(([label, value]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td key={value}>
                {value && (
                  <bdi dir={label === slip.from ? 'auto' : 'ltr'}>
                    {label === slip.email ? <Address>{value}</Address> : value}
                  </bdi>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {reference && <Stages isReceived />}
      {children}
      <p className="slip-maker">
        {brand.company}, {brand.address.city}
      </p>
    </div>
  )
}

export function Stages({ isReceived = false }: { isReceived?: boolean }) {
  return (
    <ol className="steps">
      {nextSteps.map((step, index) => (
        <li key={step.title} data-done={isReceived && index === 0}>
          <strong>{step.title}</strong> {isReceived && index === 0 && <span className="visually-hidden">(done)</span>}{' '}
          {step.text}
        </li>
      ))}
    </ol>
  )
}
