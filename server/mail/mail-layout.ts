import { brand, postalAddress } from '../../shared/brand.ts'
import { palette } from '../../shared/palette.ts'
import { type Html, html } from './html.ts'

/** What is handed to the mail service, apart from sender and receiver. */
export interface MailContent {
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

/** The frame of both mails. */
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
