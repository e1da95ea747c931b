import { brand, palette } from '../../shared/brand.ts'
import type { Hour } from '../enquiries/enquiry.ts'
import type { Backlog, countStates } from '../mail/backlog.ts'
import { states } from '../mail/states.ts'
import { ageInWords, count, inIndia } from '../words.ts'

/** How fast a page was for three quarters of those who told; CLS without a unit, the others in seconds. */
export interface VitalsRow {
  page: string
  metric: string
  visits: number
  quartile: number
}

export interface Day {
  backlog: Pick<Backlog, 'oldestPendingSeconds'>
  enquiries: { oldestNewSeconds: number }
  mailEnabled: boolean
  hours: Hour[]
  mails: Awaited<ReturnType<typeof countStates>>
  vitals: VitalsRow[]
}

const METRICS = ['LCP', 'INP', 'CLS', 'TTFB']
const BAR = { width: 15, height: 100 }
const { paper, sand, ink, inkMuted, orange, line } = palette
const STYLE = `:root{color-scheme:light dark;--ground:${paper};--text:${ink};--quiet:${inkMuted};--line:${line}}
@media(prefers-color-scheme:dark){:root{--ground:${ink};--text:${paper};--quiet:${sand};--line:${inkMuted}}}
body{margin:0 auto;padding:1rem;max-width:40rem;background:var(--ground);color:var(--text);font:1rem/1.5 system-ui,sans-serif}
h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}p{margin:.25rem 0}small{color:var(--quiet)}
svg{display:block;width:100%;height:auto}svg text{font-size:12px;fill:var(--quiet)}rect{fill:${orange}}path{stroke:var(--line)}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.3rem .5rem .3rem 0;text-align:right;border-bottom:1px solid var(--line)}
th:last-child,td:last-child{padding-right:0}
th:first-child{text-align:left;font-weight:400;overflow-wrap:anywhere}summary{min-height:1.5rem}`

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

function facts({ enquiries, backlog, mailEnabled }: Day) {
  const waits = (seconds: number, what: string) =>
    seconds > 0 ? `The oldest ${what} has waited for ${ageInWords(seconds)}.` : `No ${what} waits.`
  return `<p><small>Until ${inIndia(new Date())}. Reload for newer figures.</small></p>
<p>${waits(enquiries.oldestNewSeconds, 'enquiry that is still New')}</p><p>${waits(backlog.oldestPendingSeconds, 'mail that is still to be sent')}</p>
${mailEnabled ? '' : '<p><strong>No mail is sent: RESEND_API_KEY is not set.</strong></p>'}`
}

function enquiries({ hours }: Day) {
  const most = Math.max(1, ...hours.map((hour) => hour.enquiries))
  const all = hours.reduce((sum, hour) => sum + hour.enquiries, 0)
  const bars = hours.map((hour, index) => {
    const height = Math.round((BAR.height * hour.enquiries) / most)
    const x = index * BAR.width
    const label = index % 6 === 0 ? `<text x="${x}" y="${BAR.height + 30}">${hour.begins}</text>` : ''
    return `<rect x="${x + 1}" y="${BAR.height + 14 - height}" width="${BAR.width - 2}" height="${height}"/>${label}`
  })
  const width = BAR.width * hours.length
  return `<h2>Enquiries an hour</h2><p>${count(all, 'enquiry', 'enquiries')}${all ? `, at most ${most} in an hour` : ''}.</p>
<svg viewBox="0 0 ${width} ${BAR.height + 36}" aria-hidden="true"><path d="M0 ${BAR.height + 14.5}h${width}"/>${bars.join('')}</svg>
<details><summary>As a table</summary>${table(
    ['Hour (IST)', 'Enquiries'],
    hours.map((hour) => [hour.begins, hour.enquiries]),
  )}</details>`
}

function mails(day: Day) {
  const rows = day.mails.map(({ state, mails }) => [`${state}: ${states[state].means}`, mails])
  return `<h2>Mails</h2><p><small>Of the enquiries of these hours, and all that are still owed.</small></p>${table(['State', 'Mails'], rows)}`
}

function vitals({ vitals: told }: Day) {
  const pages = [...new Set(told.map(({ page }) => page))]
  const rows = pages.map((page) => {
    const metrics = METRICS.map((metric) => told.find((row) => row.page === page && row.metric === metric))
    const figures = metrics.map((row) => row?.quartile.toFixed(2) ?? '–')
    return [page, ...figures, Math.max(...metrics.map((row) => row?.visits ?? 0))]
  })
  return `<h2>How fast the pages are</h2><p><small>Three visits of four had at most this, in seconds but for CLS, since this process began. Good: LCP 2.5, INP 0.2, CLS 0.1, TTFB 0.8.</small></p>${table(['Page', ...METRICS, 'Visits'], rows)}`
}

function table(head: string[], rows: (string | number)[][]) {
  if (rows.length === 0) return '<p>None yet.</p>'
  const body = rows.map(
    ([first, ...rest]) => `<tr><th scope="row">${first}</th><td>${rest.join('</td><td>')}</td></tr>`,
  )
  return `<table><thead><tr><th scope="col">${head.join('</th><th scope="col">')}</th></tr></thead><tbody>${body.join('')}</tbody></table>`
}
