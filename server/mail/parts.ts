import { brand, palette, postalAddress } from '../../shared/brand.ts'
import { escaped } from '../html.ts'
import type { Message } from './resend.ts'

/*
 * The parts of a mail, as plain text and as HTML. Styles stand in the elements, because several programs drop style sheets; those
 * that are not known everywhere, such as rounded corners, carry no meaning.
 */

const SUBJECT_MAX = 120
/** With lines of 20 px and padding of 12 px buttons are 44 px high. */
const BUTTON_STYLE = `padding:12px 20px;background:${palette.ink};color:${palette.paper};font-size:16px;line-height:20px;text-decoration:none;text-align:center`
/** Contrast 9.5:1 on paper; the accent colour has only 3.5:1. */
const LINK_STYLE = `color:${palette.leaf};text-decoration:underline`
export const MUTED_STYLE = `font-size:14px;color:${palette.inkMuted}`
/** Lining figures: in Georgia's old-style ones a reference is misread. */
const REFERENCE_STYLE = 'margin:4px 0 16px;font:600 28px/1.2 Figtree,Helvetica,Arial,sans-serif;letter-spacing:.02em'
/** Nearly nobody's mail program has Fraunces. The next ones are on Macs and iPhones, Windows and Office, Android. */
const DISPLAY_FONTS = "Fraunces,Baskerville,'Palatino Linotype',Palatino,Georgia,'Noto Serif',serif"
const CELL_STYLE = `padding:6px 0;border-bottom:1px solid ${palette.line};vertical-align:top`
/** A long name or address must not widen the page: a phone would show all of it small. */
const VALUE_STYLE = `${CELL_STYLE};word-break:break-word;overflow-wrap:anywhere`
const PHONE_LINK = `tel:${brand.phone.replaceAll(' ', '')}`
const MAP_LINK = `https://www.google.com/maps/search/?api=1&query=${encodeURIComponent(postalAddress)}`

/** Set in type: many programs show no pictures. */
const WORDMARK = `<p style="margin:0 0 20px;padding-bottom:8px;border-bottom:3px solid ${palette.accent};font:600 30px/1.2 ${DISPLAY_FONTS};letter-spacing:-.02em">${brand.name}</p>`

export type Content = Pick<Message, 'subject' | 'text' | 'html'>
export type Part = Pick<Message, 'text' | 'html'>
export type Row = [label: string, value: string, link?: string | undefined]

export function paragraph(text: string, style?: string): Part {
  return { text, html: `<p${style ? ` style="${style}"` : ''}>${escaped(text)}</p>` }
}

export function referencePart(reference: string): Part {
  const label = `<p style="margin:20px 0 0;${MUTED_STYLE}">Reference</p>`
  return { text: `Reference: ${reference}`, html: `${label}<p style="${REFERENCE_STYLE}">${escaped(reference)}</p>` }
}

export function link(text: string, target: string): string {
  return `<a href="${escaped(target)}" style="${LINK_STYLE}">${escaped(text)}</a>`
}

/** A line for each link. */
export function linkList(targets: Record<string, string>): Part {
  const rows = Object.entries(targets)
  return {
    text: rows.map((row) => row.join(': ')).join('\n'),
    html: `<p style="line-height:2.2">${rows.map(([text, target]) => link(text, target)).join('<br>')}</p>`,
  }
}

/**
 * Buttons beside each other. Outlook for Windows knows padding in cells of a table only: there a button is lower, and its cell
 * keeps its ground.
 */
export function buttons(targets: Record<string, string>): Part {
  const rows = Object.entries(targets)
  const cells = rows.map(
    ([text, target]) =>
      `<td bgcolor="${palette.ink}" style="border-radius:22px"><a href="${escaped(target)}" style="display:inline-block;border-radius:22px;${BUTTON_STYLE}">${escaped(text)}</a></td>`,
  )
  return {
    text: rows.map((row) => row.join(': ')).join('\n'),
    html: `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:20px 0"><tr>${cells.join('<td width="8"></td>')}</tr></table>`,
  }
}

/** The steps of shared/next-steps.ts, of which so many are done. */
export function steps(all: { title: string; text: string; done: string }[], done: number): Part {
  const parts = all.map(({ title, ...step }, index): Part => {
    const [begin, end] = index < done ? [`Done: ${title}.`, step.done] : [`${index + 1}. ${title}.`, step.text]
    return { text: `${begin} ${end}`, html: `<p style="margin:0 0 8px"><b>${escaped(begin)}</b> ${escaped(end)}</p>` }
  })
  return { text: parts.map(({ text }) => text).join('\n'), html: parts.map(({ html }) => html).join('') }
}

/** A row without a value, of an optional field, is left out. */
export function table(all: Row[]): Part {
  const rows = all.filter(([, value]) => value)
  const cells = rows.map(([label, value, target]) => {
    const shown = target ? link(value, target) : escaped(value).replaceAll('\n', '<br>')
    return `<tr><td width="110" style="${CELL_STYLE};color:${palette.inkMuted}">${escaped(label)}</td><td style="${VALUE_STYLE}">${shown}</td></tr>`
  })
  return {
    text: rows.map(([label, value]) => `${label}: ${value}`).join('\n'),
    html: `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="width:100%;table-layout:fixed">${cells.join('')}</table>`,
  }
}

/** The subject is one line of at most `SUBJECT_MAX` characters: a header takes no line breaks. */
export function createContent(title: string, parts: Part[]): Content {
  const line = title.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  return {
    subject: Array.from(line).slice(0, SUBJECT_MAX).join(''),
    text: `${parts.map(({ text }) => text).join('\n\n')}\n\n${postalAddress}\n${brand.phone} · ${brand.email}\n`,
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light"><meta name="supported-color-schemes" content="light"><title>${escaped(title)}</title></head>
<body style="margin:0;background:${palette.paper};color:${palette.ink};font:16px/1.5 Figtree,Helvetica,Arial,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:24px 20px;background:${palette.paper};color:${palette.ink}">
${WORDMARK}
${parts.map(({ html }) => html).join('\n')}
<p style="margin:32px 0 0;padding-top:12px;border-top:1px solid ${palette.line};${MUTED_STYLE}">${link(postalAddress, MAP_LINK)}<br>${link(brand.phone, PHONE_LINK)} · ${link(brand.email, `mailto:${brand.email}`)}</p>
</div></body></html>`,
  }
}
