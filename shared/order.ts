import * as z from 'zod/mini'
import { brand } from './brand.ts'
import { buyerTypes, products } from './catalogue.ts'
import { type FormFields, plainMobile, readEmail, readQuantity, readText } from './typed-text.ts'

/** Stored with each enquiry. Raise it when the notice beside the submit button changes. */
export const PRIVACY_NOTICE_VERSION = '2026-11-28.2'

export const NAME_MAX = 200
export const EMAIL_MAX = 254
export const MOBILE_DIGITS = 10

/** Of several broken rules the uppermost here is shown. The first four, `failed` and `received` are the owner's words. */
export const messages = {
  empty: 'Please fill the data',
  email: 'Please enter a valid email address',
  digits: 'Please enter only number.',
  tenDigits: 'Please enter 10 digit Mobile number.',
  name: `Please enter a name of at most ${NAME_MAX} characters, without line breaks or hidden characters.`,
  quantity: 'Please enter a quantity of at least 1.',
  wholeQuantity: 'Please enter the quantity as a whole number.',
  largeQuantity: 'Please enter a smaller quantity, and tell us the rest by phone.',
  buyerType: `Please choose ${buyerTypes.join(' or ')}.`,
  product: `Please choose ${products.join(' or ')}.`,
  malformed: 'Please reload the page and send the form again.',
  // Not for broken rules: the server or the form says these.
  conflict: 'This form was already sent with other content. Please send it again.',
  manyOrders: `Many enquiries have come from your network today. Please call us at ${brand.phone}, or try again tomorrow.`,
  manySubscriptions: 'Several addresses were entered from here today. Please try again tomorrow.',
  notSubscribed: 'Something went wrong, and your address may not be saved. Please try again: it counts only once.',
  failed: 'Error adding document',
  received: 'Order Received Successfully',
} as const
const messageOrder: string[] = Object.values(messages)

// No pattern has nested repeats of the same text, so each takes linear time.
/** More marks on one letter than any script has: PostgreSQL takes a time for them that grows with the square of their number. */
const PILED_MARKS = /\p{M}{9}/u
/** No invisible characters but joiners of Indian scripts and emoji selectors. */
const PLAIN_TEXT = /^(?:[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|\u200c|\u200d|\ufe0e|\ufe0f)*$/u
/** A visible character: a name of fillers, joiners and accents alone counts as empty. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Cs}\p{M}\p{DI}\u2800]/u
// No dot at an end of the local part and no two in a row; no label of the domain begins or ends with a hyphen.
// Lists both cases: with the flag `i` the Kelvin sign would match K.
const EMAIL =
  /^(?!\.|[^@]*\.[.@])[^\s\p{Cc}\p{Cf}\p{Cs}\p{DI}\u2800@<>()[\],;:"\\]{1,64}@(?!-|[^@]*(?:-\.|\.-))(?:[A-Za-z0-9-]{1,63}\.){1,20}(?:[A-Za-z]{2,63}|[Xx][Nn]--[A-Za-z0-9-]{0,58}[A-Za-z0-9])$/u

function isEmpty(input: unknown): boolean {
  return input == null || (typeof input === 'string' && input.trim() === '')
}

/** The message of the rule that an input breaks. */
type Rule = (input: unknown) => string | undefined

/** One rule for each stored field, in the browser and in the schemas below. `columnOf` in server/database/enquiry.ts has the same keys. */
const rules = {
  name: plainText(NAME_MAX, messages.name),
  email(input) {
    if (isEmpty(input)) return messages.empty
    const isAddress = typeof input === 'string' && input.length <= EMAIL_MAX && EMAIL.test(input)
    return isAddress ? undefined : messages.email
  },
  mobile(input) {
    if (isEmpty(input)) return messages.empty
    if (typeof input !== 'string' || !/^[0-9]*$/.test(input)) return messages.digits
    return input.length === MOBILE_DIGITS ? undefined : messages.tenDigits
  },
  quantity(input) {
    if (isEmpty(input)) return messages.empty
    if (input === Number.POSITIVE_INFINITY) return messages.largeQuantity
    if (typeof input !== 'number' || !Number.isFinite(input)) return messages.wholeQuantity
    if (input < 1) return messages.quantity
    if (!Number.isInteger(input)) return messages.wholeQuantity
    return input > Number.MAX_SAFE_INTEGER ? messages.largeQuantity : undefined
  },
  retailerSelfUse: (input) => oneOf(buyerTypes, input, messages.buyerType),
  products: (input) => oneOf(products, input, messages.product),
} satisfies Record<string, Rule>

/** A line of text in which something is visible. */
function plainText(max: number, message: string): Rule {
  return (input) => {
    if (isEmpty(input)) return messages.empty
    if (typeof input !== 'string') return message
    if (!VISIBLE.test(input)) return messages.empty
    const text = input.trim()
    return text.length <= max && PLAIN_TEXT.test(text) && !PILED_MARKS.test(text) ? undefined : message
  }
}

function oneOf(choices: readonly unknown[], input: unknown, message: string) {
  if (isEmpty(input)) return messages.empty
  return choices.includes(input) ? undefined : message
}

export type OrderField = keyof typeof rules

/*
 * The server checks with the schemas. The browser checks with `checkOrder`: its calls here are marked as pure, so that the bundler
 * leaves zod out of the form's scripts (tests/e2e/budgets.test.ts).
 */
function toSchema<T>(rule: Rule) {
  return z.custom<T>((input) => rule(input) === undefined, { error: ({ input }) => rule(input) })
}

export const emailSchema = /* @__PURE__ */ createEmailSchema()

function createEmailSchema() {
  return toSchema<string>(rules.email)
}

function createContentSchema() {
  return z.strictObject({
    name: toSchema<string>(rules.name).check(z.trim()),
    email: emailSchema,
    mobile: toSchema<string>(rules.mobile),
    quantity: toSchema<number>(rules.quantity),
    retailerSelfUse: toSchema<(typeof buyerTypes)[number]>(rules.retailerSelfUse),
    products: toSchema<(typeof products)[number]>(rules.products),
    productName: z.optional(z.literal(brand.name)),
    /** Honeypot: people do not see it. */
    website: z.optional(z.string()),
    /** Milliseconds from showing the form to sending it, by the browser's clock. */
    filledInMs: z.optional(z.number()),
  })
}

export const orderContentSchema = /* @__PURE__ */ createContentSchema()

export const submissionKeySchema = /* @__PURE__ */ createKeySchema()

function createKeySchema() {
  return z.guid(messages.malformed).check(z.toLowerCase())
}

export const orderSchema = /* @__PURE__ */ z.extend(orderContentSchema, { submissionKey: submissionKeySchema })

export type OrderContent = z.infer<typeof orderContentSchema>
export type Order = z.infer<typeof orderSchema>

interface OrderFieldEntry {
  /** In the form, on the slip, in mails and at the desk. */
  label: string
  /** Of the input; the rule above has the same limit. */
  max?: number
  optional?: true
}

/** In the order of the form. */
export const orderFields: Record<OrderField, OrderFieldEntry> = {
  name: { label: 'Name', max: NAME_MAX },
  email: { label: 'Email', max: EMAIL_MAX },
  mobile: { label: 'Mobile' },
  quantity: { label: 'Quantity' },
  retailerSelfUse: { label: 'Buying for' },
  products: { label: 'Product' },
}

export const orderFieldNames = Object.keys(orderFields) as OrderField[]

/** The fields of the form alone, of what has others too. */
export function pickOrderFields<Values extends Record<OrderField, unknown>>(values: Values): Pick<Values, OrderField> {
  return Object.fromEntries(orderFieldNames.map((name) => [name, values[name]])) as Pick<Values, OrderField>
}

/** A valid order without a key, for `check --post`, tests and, longer, the storage probe. */
export const exampleOrder = {
  name: 'Asha Verma',
  email: 'asha.verma@shop.example',
  mobile: '9876543210',
  quantity: 24,
  retailerSelfUse: 'Retailer',
  products: products[0],
} as const satisfies Pick<Order, OrderField>

/** A form that a person typed, or its browser pasted: what is invisible is removed. `order.submit` is strict. */
export function readOrderFields(form: FormFields) {
  return {
    name: readText(form, 'name').normalize('NFC').trim(),
    email: readEmail(form),
    mobile: plainMobile(readText(form, 'mobile')),
    quantity: readQuantity(readText(form, 'quantity').trim()),
    retailerSelfUse: form.get('retailerSelfUse'),
    products: form.get('products'),
    productName: form.get('productName') ?? undefined,
    website: readText(form, 'website'),
  } satisfies Record<OrderField | 'productName' | 'website', unknown>
}

/** Checks a form in the browser by the rules of the schema. */
export function checkOrder(form: FormFields): { order: OrderContent } | { problem: Problem } {
  const typed = readOrderFields(form)
  const issues = Object.entries(rules).flatMap(([field, rule]) => {
    const message = rule(typed[field as OrderField])
    return message ? [{ message, path: [field] }] : []
  })
  return issues.length > 0 ? { problem: problemOf({ issues }) } : { order: typed as OrderContent }
}

export interface Problem {
  message: string
  fields: Record<string, string>
}

/** The first broken rule of all and of each field, in the order of `messages`. Texts such as zod's are never shown. */
export function problemOf(error: { issues: readonly { message: string; path: readonly PropertyKey[] }[] }): Problem {
  const broken = error.issues
    .map(({ message, path }) => ({
      message: messageOrder.includes(message) ? message : messages.malformed,
      field: String(path[0] ?? ''),
    }))
    .sort((a, b) => messageOrder.indexOf(a.message) - messageOrder.indexOf(b.message))
  const fields: Record<string, string> = {}
  for (const { field, message } of broken) if (field) fields[field] ??= message
  return { message: broken[0]?.message ?? messages.malformed, fields }
}
