/** The view with the participant's rights, and today's usage. */
import { useQuery } from '@tanstack/react-query'
import { answerTo } from '../api/client.ts'
import { Quotas } from '../pages/participant/quotas.tsx'
import { Badge } from '../parts/badge.tsx'
import { FactPanel, PageFrame, Panel, Section } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { PARTNER_GRANTS as TEXTS } from '../texts/partner.ts'
import { type PartnerAnswer, partnerApi } from './api.ts'
import { useOwnParticipant } from './use-self.ts'

type Grant = PartnerAnswer<'/partner/api/grants'>[number]

export function GrantsView() {
  const grants = useQuery({ queryKey: ['grants'], queryFn: () => answerTo(partnerApi.GET('/partner/api/grants')) })
  return (
    <PageFrame title={TEXTS.title} lead={TEXTS.lead}>
      <Loaded query={useOwnParticipant()}>{(self) => <Quotas participant={self} />}</Loaded>
      <Loaded query={grants}>
        {(rows) =>
          rows.length === 0 ? (
            <Panel>
              <Empty title={TEXTS.none}>{TEXTS.noneNote}</Empty>
            </Panel>
          ) : (
            rows.map((grant) => <GrantSection key={`${grant.namespace} ${grant.valid_from}`} grant={grant} />)
          )
        }
      </Loaded>
    </PageFrame>
  )
}

function GrantSection({ grant: { namespace, in_force, valid_from, valid_until, words } }: { readonly grant: Grant }) {
  return (
    <Section
      title={TEXTS.grant(namespace)}
      lead={
        <>
          <Badge state={in_force ? TEXTS.inForce : TEXTS.later} tone={in_force ? 'good' : 'info'} /> <Time at={valid_from} />
          {valid_until !== null && (
            <>
              {' – '}
              <Time at={valid_until} relative />
            </>
          )}
        </>
      }
    >
      {words.length > 0 && <FactPanel rows={words.map(({ about, words: said }) => [about, said] as const)} />}
    </Section>
  )
}
