import * as z from 'zod/mini'
import { brand } from './brand.ts'
import { buyerTypes, products } from './catalogue.ts'

/** Version of the privacy notice beside the submit button, stored with each enquiry. Raise it when the notice changes. */
export const NOTICE_VERSION = '2026-11-22'

export const NAME_MAX = 200
export const EMAIL_MAX = 254

/**
 * What a visitor can be told, in the order of the rules: of several failures the first in this list is told.
 * The first four, `failed` and `received` are the owner's words.
 */
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
  conflict: 'This form was already sent with other content. Please send it again.',
  malformed: 'Please reload the page and send the form again.',
  manyOrders: `Many enquiries have come from your network today. Please call us at ${brand.phone}, or try again tomorrow.`,
  manySubscriptions: 'Several addresses were entered from here today. Please try again tomorrow.',
  notSubscribed: 'Something went wrong, and your address may not be saved. Please try again: it counts only once.',
  failed: 'Error adding document',
  received: 'Order Received Successfully',
} as const
const ranking: string[] = Object.values(messages)

// No pattern has a repeat inside a repeat that could match the same text, so their time is linear.
/** Nothing that is not seen, but what joins letters in Indian scripts and what makes a sign an emoji. */
const PLAIN_TEXT = /^(?:[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|\u200c|\u200d|\ufe0e|\ufe0f)*$/u
/** Something that is seen: fillers, joiners and accents without a letter are an empty field to whoever reads it. */
const SEEN = /[^\s\p{Cc}\p{Cf}\p{Cs}\p{M}\p{DI}\u2800]/u
// Both cases are named: ignoring case would let the Kelvin sign pass for a K.
const EMAIL =
  /^[^\s\p{Cc}\p{Cf}\p{Cs}\p{DI}\u2800@<>()[\],;:"\\]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,20}(?:[A-Za-z]{2,63}|[Xx][Nn]--[A-Za-z0-9-]{0,58}[A-Za-z0-9])$/u

const NOT_BLANK = z.regex(/\S/, messages.empty)

function isEmpty(input: unknown): boolean {
  return input == null || (typeof input === 'string' && input.trim() === '')
}

/** Absent, null and blank count as an empty field; any other value of a wrong kind breaks the field's own rule. */
function wrongKind(message: string) {
  return { error: ({ input }: { input?: unknown }) => (isEmpty(input) ? messages.empty : message) }
}

export const emailSchema = z
  .string(wrongKind(messages.email))
  .check(NOT_BLANK, z.maxLength(EMAIL_MAX, { error: messages.email, abort: true }), z.regex(EMAIL, messages.email))

/** What a visitor fills in and we store. Columns, CSV and the comparison of a repeat follow from this list. */
const fields = {
  name: z
    .string(wrongKind(messages.name))
    .check(
      z.regex(SEEN, messages.empty),
      z.trim(),
      z.maxLength(NAME_MAX, { error: messages.name, abort: true }),
      z.regex(PLAIN_TEXT, messages.name),
    ),
  email: emailSchema,
  mobile: z
    .string(wrongKind(messages.digits))
    .check(NOT_BLANK, z.regex(/^[0-9]*$/, messages.digits), z.length(10, messages.tenDigits)),
  quantity: z
    .number({
      error: ({ input }) =>
        isEmpty(input)
          ? messages.empty
          : input === Number.POSITIVE_INFINITY
            ? messages.largeQuantity
            : messages.wholeQuantity,
    })
    .check(
      z.minimum(1, messages.quantity),
      z.refine(Number.isInteger, messages.wholeQuantity),
      z.maximum(Number.MAX_SAFE_INTEGER, messages.largeQuantity),
    ),
  retailerSelfUse: z.enum(buyerTypes, wrongKind(messages.buyerType)),
  products: z.enum(products, wrongKind(messages.product)),
}

/**
 * The purchase enquiry that a visitor fills in. The same check runs in the browser and, because the wire is not trusted,
 * on the server.
 */
export const orderContentSchema = z.strictObject({
  ...fields,
  /** The hidden field of the form. */
  productName: z.optional(z.literal(brand.name)),
  /** No person sees this field; whoever fills it is probably a program. */
  website: z.optional(z.string()),
  /** From showing the form to sending it, by the browser's own stopwatch. */
  filledInMs: z.optional(z.number()),
})

/** For so long a submission key stands for the same order: who orders the same a month later wants it twice. */
export const KEY_MAX_MS = 86_400_000

/** Made once for each filling of the form: a repeat of the same order is recognised by it. */
export const submissionKeySchema = z.guid(messages.malformed).check(z.toLowerCase())

/** The purchase enquiry as it is sent. */
export const orderSchema = z.extend(orderContentSchema, { submissionKey: submissionKeySchema })

export type OrderContent = z.infer<typeof orderContentSchema>
export type Order = z.infer<typeof orderSchema>
export type OrderField = keyof typeof fields

export interface FieldRule {
  /** How many letters it may hold. */
  max?: number | undefined
  /** It may be left empty. */
  optional?: boolean
}

/** What the inputs of the form say of the rules by themselves. */
export function readFieldRules(): Record<OrderField, FieldRule> {
  const rules = Object.entries<z.core.$ZodType>(fields).map(([name, schema]) => [name, ruleOf(schema)])
  return Object.fromEntries(rules)
}

function ruleOf({ _zod: { def } }: z.core.$ZodType): FieldRule {
  const { type, innerType, checks } = def as z.core.$ZodDefaultDef
  if (type === 'default') return { ...ruleOf(innerType), optional: true }
  const limit = checks
    ?.map((check) => check._zod.def as z.core.$ZodCheckMaxLengthDef)
    .find(({ check }) => check === 'max_length')
  return { max: limit?.maximum }
}

/** A valid order but for its key: what the server tries to store when it asks whether it can, and what tests send. */
export const exampleOrder = {
  name: 'Asha Verma',
  email: 'asha.verma@shop.example',
  mobile: '9876543210',
  quantity: 24,
  retailerSelfUse: 'Retailer',
  products: products[0],
} as const satisfies Pick<Order, OrderField>

/** What a form holds, read by name: `FormData` in a browser, `URLSearchParams` on the server. */
export interface FormFields {
  get(name: string): unknown
}

/** A filled form as the order's schema wants it. The same for the browser and for a form that is sent without scripts. */
export function readOrderFields(fields: FormFields) {
  const quantity = text(fields, 'quantity').trim()
  return {
    name: fields.get('name'),
    email: text(fields, 'email').trim(),
    mobile: plainMobile(text(fields, 'mobile')),
    quantity: quantity === '' ? undefined : Number(quantity),
    retailerSelfUse: fields.get('retailerSelfUse'),
    products: fields.get('products'),
    productName: fields.get('productName') ?? undefined,
    website: text(fields, 'website'),
  } satisfies Record<OrderField | 'productName' | 'website', unknown>
}

/** Without spaces and dashes, and without +91 or a leading 0 if exactly ten digits remain: else the rules judge what was typed. */
function plainMobile(typed: string): string {
  const plain = typed.replace(/[\s-]/g, '')
  return /^(?:\+91|0)?([0-9]{10})$/.exec(plain)?.[1] ?? (/^[0-9]+$/.test(plain) ? plain : typed.trim())
}

export function text(fields: FormFields, name: string): string {
  const value = fields.get(name)
  return typeof value === 'string' ? value : ''
}

export interface Problem {
  /** The first broken rule. */
  message: string
  /** The first rule that each field breaks. */
  fields: Record<string, string>
}

/** What is broken, by the order of `messages`; a text that is not ours, such as zod's own, is never told. */
export function problemOf(error: { issues: readonly z.core.$ZodIssue[] }): Problem {
  const broken = error.issues
    .map(({ message, path }) => ({
      message: ranking.includes(message) ? message : messages.malformed,
      field: String(path[0] ?? ''),
    }))
    .sort((a, b) => ranking.indexOf(b.message) - ranking.indexOf(a.message))
  return {
    message: broken.at(-1)?.message ?? messages.malformed,
    fields: Object.fromEntries(broken.filter(({ field }) => field).map(({ field, message }) => [field, message])), // the first rule comes last and stays
  }
}
