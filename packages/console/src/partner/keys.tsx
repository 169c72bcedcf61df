/** The view with the keys and the addresses of the participant. */
import { KEY_COLUMNS, PublishedKeys } from '../pages/participant/key-columns.tsx'
import { CopyableId } from '../parts/identifier.tsx'
import { FactPanel, PageFrame, Section } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { PanelTable, rowsAsQuery } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { PARTNER_KEYS as TEXTS } from '../texts/partner.ts'
import type { PartnerAnswer } from './api.ts'
import { useOwnParticipant } from './use-self.ts'

type OwnParticipant = PartnerAnswer<'/partner/api/self'>

export function KeysView() {
  return (
    <PageFrame title={TEXTS.title} lead={TEXTS.lead}>
      <Loaded query={useOwnParticipant()}>{(self) => <KeyDetails self={self} />}</Loaded>
    </PageFrame>
  )
}

function KeyDetails({ self }: { readonly self: OwnParticipant }) {
  return (
    <>
      <Section title={TEXTS.keys}>
        <PanelTable
          caption={TEXTS.keysCaption}
          columns={KEY_COLUMNS}
          query={rowsAsQuery(self.keys)}
          keyOf={({ kid, use }) => `${kid} ${use}`}
          empty={<Empty title={TEXTS.noKeys}>{TEXTS.noKeysNote}</Empty>}
        />
      </Section>
      <PublishedKeys title={TEXTS.published} caption={TEXTS.publishedCaption} keys={self.published_keys} />
      <Section title={TEXTS.messages}>
        <FactPanel rows={participantFacts(self)} />
      </Section>
    </>
  )
}

const { facts: FACTS } = TEXTS

function participantFacts({ addresses, ...self }: OwnParticipant) {
  const { allowed, default_url, notify_url, auth } = addresses
  return [
    [FACTS.sender_id, <CopyableId key="sender" value={self.sender_id} what={FACTS.sender_id} />],
    [FACTS.client_id, <CopyableId key="client" value={self.client_id} what={FACTS.client_id} />],
    [FACTS.signature, TEXTS.signature[self.signature_policy]],
    [FACTS.encryption, self.encryption_policy],
    [FACTS.jwks_uri, self.jwks_uri],
    [FACTS.default_url, default_url ?? TEXTS.none],
    [FACTS.notify_url, notify_url],
    [FACTS.allowed, allowed.length === 0 ? TEXTS.none : allowed.join(', ')],
    [FACTS.auth, auth],
    [FACTS.last_seen, <Time key="seen" at={self.last_seen} relative />],
  ] as const
}
