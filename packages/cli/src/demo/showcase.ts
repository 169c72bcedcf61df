/** Collects what the server's own pages show in a demo: the participant, commands, sample identifiers and addresses. */
import type { DemoContent } from '@rollcall/server/http/showcase'
import type { DemoFile } from './demo-file.ts'
import { curlCommandsText, type DemoFolderAndPorts, partnerPageLinkCommand } from './greeting.ts'

export const demoContentOf = (demo: DemoFile, demoPage: string, place: DemoFolderAndPorts): DemoContent => ({
  participant: demo.participant,
  operatorUrl: demo.admin.base_url,
  linkCommand: partnerPageLinkCommand(demo, place),
  commands: curlCommandsText(demo),
  samples: new Map(demo.registries.map(({ namespace, samples }) => [namespace, samples])),
  demoPage,
})
