import type { ReactNode } from 'react'
import { brand } from '../../shared/brand.ts'
import { buyerTypes, products } from '../../shared/catalogue.ts'

interface OrderFieldsProps {
  marks: Record<string, string>
  /** What they hold at first. */
  values?: Record<string, string> | undefined
  /** Of an order that may be stored: sent again without scripts it is the same one. */
  submissionKey?: string | undefined
}

/**
 * The inputs of the order form. They keep their own values: what is typed before React arrives stays. None that people
 * see says `autoComplete="off"`: the way back to a page that the browser has not kept would find it empty.
 */
export function OrderFields({ marks, values = {}, submissionKey }: OrderFieldsProps) {
  function field(name: string) {
    const mark = marks[name]
    return { id: `order-${name}`, name, required: true, defaultValue: values[name], ...(mark && marked(name)) }
  }
  return (
    <div className="fields">
      <Field name="name" label="Name" mark={marks.name}>
        <input {...field('name')} autoComplete="name" autoCapitalize="words" enterKeyHint="next" />
      </Field>
      <Field name="email" label="Email" mark={marks.email}>
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
      <Field name="mobile" label="Mobile" mark={marks.mobile}>
        <input {...field('mobile')} type="tel" inputMode="tel" autoComplete="tel-national" enterKeyHint="next" />
      </Field>
      <Field name="quantity" label="Quantity" mark={marks.quantity}>
        <input {...field('quantity')} type="number" min={1} inputMode="numeric" enterKeyHint="next" />
      </Field>
      <Field name="retailerSelfUse" label="Retailer or Self Use" mark={marks.retailerSelfUse}>
        <Choice {...field('retailerSelfUse')} placeholder="Who is it for?" options={buyerTypes} />
      </Field>
      <Field name="products" label="Product" mark={marks.products}>
        <Choice {...field('products')} placeholder="Choose a product" options={products} />
      </Field>
      <input type="hidden" name="productName" value={brand.name} />
      {submissionKey && <input type="hidden" name="submissionKey" value={submissionKey} />}
      {/* People do not see this field and do not reach it: who fills it in is a program. */}
      <div className="visually-hidden" aria-hidden="true">
        <label htmlFor="order-website">Website</label>
        <input id="order-website" name="website" tabIndex={-1} autoComplete="off" />
      </div>
    </div>
  )
}

function marked(name: string) {
  return { 'aria-invalid': true, 'aria-describedby': `order-${name}-problem` }
}

interface FieldProps {
  name: string
  label: string
  mark: string | undefined
  children: ReactNode
}

function Field({ name, label, mark, children }: FieldProps) {
  return (
    <div className="field">
      <label htmlFor={`order-${name}`}>{label}</label>
      {children}
      {mark && (
        <p className="field-problem" id={`order-${name}-problem`}>
          {mark}
        </p>
      )}
    </div>
  )
}

interface ChoiceProps {
  id: string
  name: string
  placeholder: string
  options: readonly string[]
  defaultValue: string | undefined
}

function Choice({ placeholder, options, defaultValue = '', ...select }: ChoiceProps) {
  return (
    <div className="choice">
      <select {...select} defaultValue={options.includes(defaultValue) ? defaultValue : ''}>
        <option value="" disabled hidden>
          {placeholder}
        </option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </div>
  )
}
