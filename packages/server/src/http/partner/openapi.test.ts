import { expect, it } from 'vitest'
import { partnerDocument } from './openapi.ts'
import { partnerInputLimits } from './route.ts'

it('the document says how large a body of the partner API may be, and speaks of no operator token', () => {
  const { responses } = partnerDocument().components as { responses: { readonly Error413: { readonly description: string } } }
  const { admin_body_bytes: most } = partnerInputLimits({ limits: { admin_body_bytes: 1_048_576, body_depth: 32 } })
  expect(responses.Error413.description).toBe(`The body is larger than ${most.toLocaleString('en')} bytes.`)
  expect(JSON.stringify(responses)).not.toMatch(/token|console/)
})
