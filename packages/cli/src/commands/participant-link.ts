/** `rollcall participant link` and `sign-out`: a participant signs in to the partner page, and is signed out. */

import { makePartnerLink, signPartnerOut } from '@rollcall/admin/partner/link'
import { baseUrl } from '@rollcall/settings/addresses'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addLinkCommand(participant: Command): void {
  withJson(participant.command('link'))
    .description('print a link with which a participant signs in to the partner page, once, within 15 minutes')
    .argument('<sender_id>', 'sender_id of the participant')
    .addHelpText(
      'after',
      `
The address is that of ROLLCALL_PUBLIC_URL, else of HOST and PORT. The server has the page where it runs with
ROLLCALL_PARTNER_PAGE=1; the demo has it. Whoever opens the link sees the keys, addresses and deliveries of the participant:
give it to the people of the participant alone. A new link ends those that were not used; sessions go on until they end, or
until rollcall participant sign-out.

Example: rollcall participant link spmis.example.org`,
    )
    .action(runLink)
  withJson(participant.command('sign-out'))
    .description('end the sessions of a participant on the partner page, and the links to it')
    .argument('<sender_id>', 'sender_id of the participant')
    .addHelpText('after', '\nExample: rollcall participant sign-out spmis.example.org')
    .action(runSignOut)
}

async function runLink(sender_id: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const link = await withDatabase((needs) => {
    // What the server has is not known here: its environment may be another one.
    const partnerPage = { isOn: true, base: () => baseUrl(needs.config, needs.config.port) }
    return makePartnerLink({ ...needs, partnerPage }, { sender_id })
  })
  const text = `${link.url}\nIt signs in as ${link.sender_id}, once, until ${link.expires_at}. It cannot be shown again.`
  print(options, link, text)
}

async function runSignOut(sender_id: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const ended = await withDatabase((needs) => signPartnerOut(needs, { sender_id }))
  print(options, ended, `${sender_id} is signed out; sessions ended: ${ended.sessions}`)
}
