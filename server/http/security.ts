import { createHash } from 'node:crypto'
import { speculationRules } from '../../shared/speculation-rules.ts'

const POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(speculationRules).digest('base64')}'`,
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
]

const UNUSED_FEATURES =
  'accelerometer autoplay camera display-capture encrypted-media fullscreen geolocation gyroscope magnetometer microphone midi payment picture-in-picture publickey-credentials-get screen-wake-lock usb xr-spatial-tracking'

export interface SecurityOptions {
  publicUrl: string
  /** Whether browsers may be told to insist on https for all subdomains too, and to ship with that knowledge. */
  hstsPreload: boolean
}

/** What every answer carries but the parts of a page. Over plain http browsers are not told to insist on https. */
export function securityHeaders(options: SecurityOptions): Record<string, string> {
  const https = options.publicUrl.startsWith('https:')
  return {
    'content-security-policy': [...POLICY, ...(https ? ['upgrade-insecure-requests'] : [])].join('; '),
    ...partHeaders(options),
    'x-frame-options': 'DENY',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
    'permissions-policy': UNUSED_FEATURES.split(' ')
      .map((feature) => `${feature}=()`)
      .join(', '),
  }
}

/** What a script, style, font or picture carries: the rest is about documents, and 0.8 kB on each of twenty files. */
export function partHeaders({ publicUrl, hstsPreload }: SecurityOptions): Record<string, string> {
  return {
    ...(publicUrl.startsWith('https:') && {
      'strict-transport-security': `max-age=63072000${hstsPreload ? '; includeSubDomains; preload' : ''}`,
    }),
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  }
}
