import type { Answer } from '../../api/client.ts'
import type { Tone } from '../../parts/tones.ts'

/** `live` is good for a subscription; for a participant it only names its environment. */
export const STATE_TONES: Readonly<Record<Answer<'/admin/v1/subscriptions'>[number]['state'], Tone>> = {
  live: 'good',
  suspended: 'warn',
  ended: 'quiet',
}
