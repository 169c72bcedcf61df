/** The page of a participant's grant in a registry: its meaning, a preview of records, and a form that changes it. */

import { useQuery } from '@tanstack/react-query'
import { answerTo, api } from '../../api/client.ts'
import { LossOfAccess } from '../../parts/at-stake.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { PageFrame, Panel } from '../../parts/page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { numberText } from '../../parts/times.ts'
import { useAddressParts } from '../../parts/use-address.ts'
import { useMay } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { GRANT } from '../../texts/grants.ts'
import { Editor } from './editor.tsx'
import { GRANT_PATH, type GrantAddress, grantQuery } from './grant-address.ts'
import { GrantInForce } from './in-force.tsx'
import { Preview } from './preview.tsx'

export function Page() {
  const { sender_id, namespace } = useAddressParts('sender_id', 'namespace')
  const whose = { sender_id, namespace }
  const may = useMay()
  const grant = useQuery(grantQuery(whose))
  const registry = useQuery({
    queryKey: ['registries', 'one', namespace],
    queryFn: () => answerTo(api.GET('/admin/v1/registries/{namespace}', { params: { path: { namespace } } })),
  })
  return (
    <PageFrame
      title={GRANT.title(sender_id, namespace)}
      above={<a href={`#/participants/${encodeURIComponent(sender_id)}`}>{GRANT.above(sender_id)}</a>}
      actions={grant.data && may('operate') && <RevokeGrantButton {...whose} />}
    >
      <Loaded query={grant} lines={8}>
        {(explained) => (
          <>
            {explained === null ? (
              <Panel>
                <Empty title={GRANT.none}>{GRANT.noneNote}</Empty>
              </Panel>
            ) : (
              <>
                <GrantInForce grant={explained} />
                <Preview title={GRANT.preview.title} lead={GRANT.preview.lead} whose={whose} />
              </>
            )}
            <Loaded query={registry} lines={8}>
              {(known) => may('own') && <Editor key={explained?.version} whose={whose} registry={known} grant={explained} />}
            </Loaded>
          </>
        )}
      </Loaded>
    </PageFrame>
  )
}

const RevokeGrantButton = (whose: GrantAddress) => (
  <FormDialog
    danger
    label={GRANT.revoke.label}
    title={GRANT.revoke.title(whose.sender_id, whose.namespace)}
    call={() => answerTo(api.POST(`${GRANT_PATH}/revoke`, { params: { path: whose }, body: {} }))}
    changes={['grants', 'participants', 'subscriptions']}
    done={({ revoked, suspended }) => GRANT.revoke.done(numberText(revoked, LOCALE), numberText(suspended, LOCALE))}
  >
    <p>{GRANT.revoke.lead}</p>
    <LossOfAccess participant={whose.sender_id} namespace={whose.namespace} />
  </FormDialog>
)
