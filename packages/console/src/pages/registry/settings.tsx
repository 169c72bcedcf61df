/** Changes what an operator decides about a registry. */
import { answered, api } from '../../api/client.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { REGISTRIES, REGISTRY } from '../../texts/registries.ts'
import type { Registry } from './page.tsx'

const { settings: TEXTS, facts: NAMES } = REGISTRY
const { fields: FIELDS } = REGISTRIES

export const Settings = ({ registry }: { readonly registry: Registry }) => (
  <FormDialog
    label={TEXTS.label}
    title={TEXTS.title}
    act={TEXTS.act}
    fields={[
      {
        ...{ name: 'web_origins', label: NAMES.web_origins, note: TEXTS.originsNote, as: 'area' },
        value: registry.web_origins.join('\n'),
      },
      {
        ...{ name: 'time_zone', label: FIELDS.time_zone, note: FIELDS.timeZoneNote, required: true },
        value: registry.time_zone,
      },
      {
        ...{ name: 'majority_age', label: FIELDS.majority_age, note: FIELDS.majorityNote, required: true },
        ...{ as: 'number', value: registry.majority_age },
      },
    ]}
    call={(given) =>
      answered(
        api.POST('/admin/v1/registries/{namespace}/settings', {
          params: { path: { namespace: registry.namespace } },
          body: {
            web_origins: given.lines('web_origins'),
            time_zone: given.text('time_zone'),
            majority_age: given.number('majority_age'),
          },
        }),
      )
    }
    changes={['registries']}
    done={() => TEXTS.done}
  />
)
