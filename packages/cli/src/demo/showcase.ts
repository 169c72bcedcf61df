/** What the pages of the demo show. */
import type { DemoReceiver, Showcase } from '@rollcall/server/serve'
import type { DemoFile } from './demo-file.ts'
import { curlPair } from './greeting.ts'

export const showcaseOf = (demo: DemoFile, receiver: DemoReceiver | null): Showcase => ({
  participant: demo.participant,
  operatorUrl: demo.admin.base_url,
  commands: curlPair(demo),
  samples: new Map(demo.registries.map(({ namespace, samples }) => [namespace, samples])),
  receiver,
})
