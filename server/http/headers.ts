import { hash } from 'node:crypto'
import { speculationRules } from '../../shared/page-paths.ts'
import { type Env, publicUrlOf } from '../env.ts'

const POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${hash('sha256', speculationRules, 'base64')}'`,
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

/** For every answer but page assets. HSTS and upgrade-insecure-requests are set only with https. */
export function securityHeaders(env: Env): Record<string, string> {
  const policy = isHttps(env) ? [...POLICY, 'upgrade-insecure-requests'] : POLICY
  return {
    'content-security-policy': policy.join('; '),
    ...assetHeaders(env),
    'x-frame-options': 'DENY',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
    'permissions-policy': UNUSED_FEATURES.replaceAll(' ', '=(), ').concat('=()'),
  }
}

/** For scripts, styles, fonts and pictures: the other headers concern documents only, and would add 0.8 kB to each file. */
export function assetHeaders(env: Env): Record<string, string> {
  const lasting = `max-age=63072000${env.HSTS_PRELOAD ? '; includeSubDomains; preload' : ''}`
  return {
    ...(isHttps(env) && { 'strict-transport-security': lasting }),
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  }
}

function isHttps(env: Env): boolean {
  return publicUrlOf(env).startsWith('https:')
}
