/** The calls of the admin API that show the settings and the doctor findings of the node that answers the call. */
import { listFindings } from '@rollcall/admin/doctor/findings'
import { listSettings } from '@rollcall/admin/settings'
import { type AdminRoute, adminRoute } from './route.ts'

export const SETTING_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET', '/settings', listSettings, {
    name: 'listSettings',
    role: 'read',
    summary: 'Every limit and option of the node that answers, with value, default, source and meaning. No secrets.',
  }),
  adminRoute('GET', '/findings', listFindings, {
    name: 'listFindings',
    role: 'read',
    summary: 'What doctor finds on the node that answers: each check with its state, and the command that mends it.',
  }),
]
