// What to know of a configuration whose values are valid, for whoever runs the site: the server logs it, `staff check` prints it.

import { brand } from '../shared/brand.ts'
import { type Env, meantBy, publicUrlOf } from './env.ts'
import { staffCommand } from './staff-command.ts'

/** In client/content/privacy-policy.ts. */
const PROMISED_MONTHS = 24

/** Whether an address is one of the examples that come with the project. */
export const isStandIn = (address: string) => /\.example>?$/i.test(address)

/** With a key mails are sent: the site does not start with an address that is a stand-in. */
export function standInProblems(env: Env): string[] {
  if (!env.RESEND_API_KEY) return []
  return (['MAIL_FROM', 'STAFF_EMAILS'] as const).flatMap((name) => {
    const standIn = [env[name]].flat().find(isStandIn)
    return standIn
      ? `RESEND_API_KEY is set, but ${name} is still a stand-in (${standIn}), with which the site does not start: set your own.`
      : []
  })
}

/** What an operator should know of a configuration that is valid. */
export function warningsOf(env: Env): string[] {
  const { NOTIFY_URL: notifyUrl } = env
  const warnings: [applies: unknown, message: string][] = [
    [!env.RESEND_API_KEY, `RESEND_API_KEY is not set: mails wait in the database (${staffCommand('mails')})`],
    [
      env.RESEND_API_KEY && !env.RESEND_WEBHOOK_SECRET,
      'RESEND_WEBHOOK_SECRET is not set: nobody sees when a mail bounces or is marked as spam',
    ],
    [
      notifyUrl && env.NOTIFY_FORMAT === 'json',
      `NOTIFY_FORMAT is json: name, address and number of each visitor go to ${notifyUrl && new URL(notifyUrl).origin}, which the privacy policy has to name`,
    ],
    [
      env.RETENTION_MONTHS === 0 || env.RETENTION_MONTHS > PROMISED_MONTHS,
      `RETENTION_MONTHS is ${env.RETENTION_MONTHS}, but the privacy policy promises to erase enquiries after ${PROMISED_MONTHS} months`,
    ],
    [
      env.RESEND_API_KEY && isStandIn(brand.email),
      `shared/brand.ts still names ${brand.email}: answers to our mails go there, and visitors see it on each page`,
    ],
    [
      !env.PUBLIC_URL,
      `PUBLIC_URL is not set: links lead to ${publicUrlOf(env)}${brand.newsletter ? ', and confirmations to subscribers wait' : ''}`,
    ],
  ]
  const unknown = env.unknown.map((name) => {
    const meant = meantBy(name)
    return `${name} is no variable of the site: ${meant ? `is ${meant} meant?` : '.env.example lists them'}`
  })
  return [...standInProblems(env), ...unknown, ...warnings.flatMap(([applies, message]) => (applies ? [message] : []))]
}
