import type { Answer } from '../../api/client.ts'
import type { Tone } from '../../parts/tones.ts'

/** The colours of a subscription's states. For a subscription `live` is good; elsewhere `live` names an environment. */
export const STATE_TONES: Readonly<Record<Answer<'/admin/v1/subscriptions'>[number]['state'], Tone>> = {
  live: 'good',
  suspended: 'warn',
  ended: 'quiet',
}
