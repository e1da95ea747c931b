import { brand, palette } from '../../shared/brand.ts'
import type { readHours } from '../enquiries/enquiry.ts'
import type { Backlog, countStates } from '../mail/backlog.ts'
import { states } from '../mail/states.ts'
import { ageInWords, inIndia } from '../words.ts'

/** How fast a page was for three quarters of those who told; CLS without a unit, the others in seconds. */
export interface Quartile {
  page: string
  metric: string
  quartile: number
}

export interface Day {
  backlog: Pick<Backlog, 'oldestPendingSeconds'>
  oldestNewSeconds: number
  mailEnabled: boolean
  hours: Awaited<ReturnType<typeof readHours>>
  mails: Awaited<ReturnType<typeof countStates>>
  vitals: Quartile[]
}

const METRICS = ['LCP', 'INP', 'CLS', 'TTFB']
const STYLE = `:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}body{margin:0 auto;padding:1rem;max-width:40rem}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}tr{border-bottom:1px solid}
th,td{padding:.3rem .5rem .3rem 0;text-align:right}th:first-child{text-align:left;font-weight:400;overflow-wrap:anywhere}
svg{width:75%;height:.8rem;float:left;margin-top:.35rem}rect{fill:${palette.accent}}`

/** What somebody without Grafana looks at: one page of plain HTML, undefined when the database does not answer. */
export function statusPage(day: Day | undefined): string {
  const title = `${brand.name}, the last 24 hours`
  const body = day
    ? [facts(day), enquiries(day), mails(day), vitals(day)].join('\n')
    : '<p>The database does not answer.</p>'
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>
${body}
</main></body></html>
`
}

function facts({ oldestNewSeconds, backlog, mailEnabled }: Day) {
  const waits = (seconds: number, what: string) =>
    seconds > 0 ? `The oldest ${what} has waited for ${ageInWords(seconds)}.` : `No ${what} waits.`
  return `<p><small>Until ${inIndia(new Date())}. Reload for newer figures.</small></p>
<p>${waits(oldestNewSeconds, 'enquiry that is still New')}</p><p>${waits(backlog.oldestPendingSeconds, 'mail that is still to be sent')}</p>
${mailEnabled ? '' : '<p><strong>No mail is sent: RESEND_API_KEY is not set.</strong></p>'}`
}

function enquiries({ hours }: Day) {
  const most = Math.max(1, ...hours.map((hour) => hour.enquiries))
  const bar = (part: number) =>
    `<svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true"><rect width="${part}" height="1"/></svg>`
  const rows = hours.map((hour) => [hour.begins, bar(hour.enquiries / most) + hour.enquiries])
  return `<h2>Enquiries an hour</h2>${table(['Hour (IST)', 'Enquiries'], rows)}`
}

function mails(day: Day) {
  const rows = day.mails.map(({ state, mails }) => [`${state}: ${states[state].means}`, mails])
  return `<h2>Mails</h2><p><small>Of the enquiries of these hours, and all that are still owed.</small></p>${table(['State', 'Mails'], rows)}`
}

function vitals({ vitals: told }: Day) {
  const pages = [...new Set(told.map(({ page }) => page))]
  const quartile = (page: string, metric: string) =>
    told.find((row) => row.page === page && row.metric === metric)?.quartile.toFixed(2) ?? '–'
  const rows = pages.map((page) => [page, ...METRICS.map((metric) => quartile(page, metric))])
  return `<h2>How fast the pages are</h2><p><small>Three visits of four had at most this, in seconds but for CLS, since this process began. Good: LCP 2.5, INP 0.2, CLS 0.1, TTFB 0.8.</small></p>${table(['Page', ...METRICS], rows)}`
}

function table(head: string[], rows: (string | number)[][]) {
  if (rows.length === 0) return '<p>None yet.</p>'
  const body = rows.map(
    ([first, ...rest]) => `<tr><th scope="row">${first}</th><td>${rest.join('</td><td>')}</td></tr>`,
  )
  return `<table><thead><tr><th scope="col">${head.join('</th><th scope="col">')}</th></tr></thead><tbody>${body.join('')}</tbody></table>`
}
