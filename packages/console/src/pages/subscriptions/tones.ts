import type { Answer } from '../../api/client.ts'
import type { Tone } from '../../parts/tones.ts'

/** Of a subscription `live` is good; of a participant it only says where it is. */
export const STATE_TONES: Readonly<Record<Answer<'/admin/v1/subscriptions'>[number]['state'], Tone>> = {
  live: 'good',
  suspended: 'warn',
  ended: 'quiet',
}
