// Sign-in leads to the desk or to one enquiry, and nowhere else.
import { expect, it } from 'vitest'
import { readDeskPath } from '../../server/desk/inputs.ts'

it.each(['//evil.example', '/\\evil', '/staff/../x', '/staff/QV-7K3M9P/../x', 'https://evil.example', '/staff/"><b>'])(
  'never to %s',
  (to) => expect(readDeskPath(to)).toBe('/staff'),
)

it('to an enquiry', () => expect(readDeskPath('/staff/QV-7K3M9P')).toBe('/staff/QV-7K3M9P'))
