import { createHmac } from 'node:crypto'

export const WEBHOOK_SECRET = `whsec_${Buffer.from('a secret of the tests, 24 b').toString('base64')}`

/** Sends an event as Resend does: signed over id, time and the very text. */
export function sendEvent(
  url: string,
  event: object,
  /** `body`: what is sent instead of what was signed. */
  { id = `msg_${crypto.randomUUID()}`, secret = WEBHOOK_SECRET, at = new Date(), body = JSON.stringify(event) } = {},
): Promise<Response> {
  const signed = JSON.stringify(event)
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${signed}`).digest('base64')
  return fetch(`${url}/webhooks/resend`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'svix-id': id,
      'svix-timestamp': timestamp,
      'svix-signature': `v1,bm90IHRoaXMgb25l v1,${signature}`,
    },
    body,
  })
}

/** An event about the mail with this tag, in the shape that Resend documents; also `bounced transiently`. */
export function deliveryEvent(what: string, tag: string, reason?: string) {
  const [type = '', isTransient] = what.split(' ')
  const bounce = { type: isTransient ? 'Transient' : 'Permanent', subType: 'General', message: reason }
  return {
    type: `email.${type}`,
    created_at: new Date().toISOString(),
    data: {
      email_id: crypto.randomUUID(),
      tags: { mail: tag },
      from: 'Quvera <enquiries@quvera.test>',
      to: ['somebody@shop.example'],
      subject: 'Enquiry',
      ...(type === 'bounced' && { bounce }),
      ...(type === 'failed' && { failed: { reason } }),
    },
  }
}
