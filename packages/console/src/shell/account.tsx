/** The menu of the signed-in operator: the appearance, help, and the way out. */
import { ActionIcon, type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core'
import { IconKeyboard, IconLogout, IconUserCircle } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { forgetAnswers } from '../api/queries.ts'
import { SESSION_QUERY_KEY, signOut, withoutSession } from '../api/session.ts'
import { shortTime } from '../parts/times.ts'
import { useSession } from '../session/session.ts'
import { LOCALE } from '../texts/common.ts'
import { SHELL } from '../texts/shell.ts'
import styles from './shell.module.css'

/** The roles to show: `own` alone for an operator who has it, because it includes all others. */
const rolesText = (roles: readonly string[]): string => (roles.includes('own') ? 'own' : roles.join(', '))

export function SignedInOperator({ onHelp }: { readonly onHelp: () => void }) {
  const session = useSession()
  const queries = useQueryClient()
  const leaving = useMutation({
    mutationFn: signOut,
    onSuccess: () => {
      queries.setQueryData(SESSION_QUERY_KEY, withoutSession)
      forgetAnswers()
    },
  })
  return (
    <div className={styles.account}>
      <div className={styles.who}>
        <div className={styles.person}>
          <span className={styles.operator}>{session.operator}</span>
          <span className={styles.roles}>{rolesText(session.roles)}</span>
        </div>
        <Menu position="top-end" width={208} withinPortal={false} withInitialFocusPlaceholder={false}>
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" size="lg" aria-label={SHELL.account(session.operator)}>
              <IconUserCircle size={20} stroke={1.6} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Label>
              {SHELL.expires(shortTime(new Date(session.expires_at), LOCALE))}
              {session.registries !== null && <div>{SHELL.bound(session.registries)}</div>}
            </Menu.Label>
            <Menu.Divider />
            <Menu.Label>{SHELL.appearance}</Menu.Label>
            <ColorSchemes />
            <Menu.Divider />
            <Menu.Item leftSection={<IconKeyboard size={16} aria-hidden />} onClick={onHelp}>
              {SHELL.shortcuts}
            </Menu.Item>
            <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => leaving.mutate()}>
              {SHELL.signOut}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </div>
    </div>
  )
}

const COLOR_SCHEMES = Object.entries(SHELL.schemes) as [MantineColorScheme, string][]

function ColorSchemes() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
      {COLOR_SCHEMES.map(([scheme, label]) => (
        <Menu.RadioItem key={scheme} value={scheme}>
          {label}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  )
}
