/** What the pages of the demo show. */
import type { DemoReceiver, Showcase } from '@rollcall/server/serve'
import type { DemoFile } from './demo-file.ts'
import { curlPair, linkCommand, type Place } from './greeting.ts'

export const showcaseOf = (demo: DemoFile, receiver: DemoReceiver | null, place: Place): Showcase => ({
  participant: demo.participant,
  operatorUrl: demo.admin.base_url,
  linkCommand: linkCommand(demo, place),
  commands: curlPair(demo),
  samples: new Map(demo.registries.map(({ namespace, samples }) => [namespace, samples])),
  receiver,
})
