import { brand, postalAddress } from '../../shared/brand.ts'
import { palette } from '../../shared/palette.ts'

/** What is handed to the mail service, apart from sender and receiver. */
export interface Letter {
  subject: string
  text: string
  html: string
}

const SUBJECT_MAX = 120

/** One line of at most `SUBJECT_MAX` characters: a header takes no line breaks. */
export function subjectLine(text: string): string {
  return Array.from(text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' '))
    .slice(0, SUBJECT_MAX)
    .join('')
}

/** Text that is HTML already. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Tag of template strings: every value is escaped, unless it was made by this tag itself. */
export function html(strings: TemplateStringsArray, ...values: (string | Html | Html[])[]): Html {
  const parts = values.map((value) => [value].flat().map(render).join(''))
  return new Html(String.raw({ raw: strings }, ...parts))
}

function render(value: string | Html) {
  return value instanceof Html ? value.text : value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** The frame of all mails. */
export function htmlPage(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body style="margin:0;background:${palette.paper};color:${palette.ink};font:16px/1.5 Figtree,Helvetica,Arial,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:32px 20px">
<p style="margin:0 0 20px;padding-bottom:8px;border-bottom:3px solid ${palette.orange};font:600 22px Fraunces,Georgia,serif">${brand.name}</p>
${content}
<p style="margin:32px 0 0;padding-top:12px;border-top:1px solid ${palette.line};font-size:14px;color:${palette.inkMuted}">${postalAddress}<br>${brand.phone} · ${brand.email}</p>
</div></body></html>`.text
}

/** A table of labels and values. */
export function htmlTable(rows: [label: string, value: string | Html][]): Html {
  return html`<table role="presentation" style="width:100%;border-collapse:collapse">${rows.map(
    ([label, value]) =>
      html`<tr><td style="padding:6px 12px 6px 0;border-bottom:1px solid ${palette.line};color:${palette.inkMuted};vertical-align:top">${label}</td><td style="padding:6px 0;border-bottom:1px solid ${palette.line}">${value}</td></tr>`,
  )}</table>`
}

export function textTable(rows: [label: string, value: string][]): string {
  return rows.map(([label, value]) => `${label}: ${value}`).join('\n')
}
