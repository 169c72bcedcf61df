/** Who is signed in, the appearance, the way out. */
import { ActionIcon, type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core'
import { IconCheck, IconKeyboard, IconLogout, IconUserCircle } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { SESSION_KEY, SIGNED_OUT, signOut } from '../api/session.ts'
import { Time } from '../parts/time.tsx'
import { useSession } from '../session/session.ts'
import { SHELL } from '../texts/shell.ts'
import styles from './shell.module.css'

/** `own` includes all others. */
const broadest = (roles: readonly string[]): string => (roles.includes('own') ? 'own' : roles.join(', '))

export function Account({ onHelp }: { readonly onHelp: () => void }) {
  const session = useSession()
  const queries = useQueryClient()
  const leaving = useMutation({
    mutationFn: signOut,
    onSuccess: () => {
      // Nothing of what this operator has seen stays for the next one.
      queries.clear()
      queries.setQueryData(SESSION_KEY, SIGNED_OUT)
    },
  })
  return (
    <div className={styles.account}>
      <div className={styles.who}>
        <div className={styles.person}>
          <span className={styles.operator}>{session.operator}</span>
          <span className={styles.roles}>{broadest(session.roles)}</span>
        </div>
        <Menu position="top-end" width={260} withinPortal={false}>
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" size="lg" aria-label={SHELL.account(session.operator)}>
              <IconUserCircle size={20} stroke={1.6} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Label>
              {SHELL.expires} <Time at={session.expires_at} />
              {session.registries !== null && <div>{SHELL.bound(session.registries)}</div>}
            </Menu.Label>
            <Menu.Divider />
            <Menu.Label>{SHELL.appearance}</Menu.Label>
            <Schemes />
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

const SCHEMES = Object.entries(SHELL.schemes) as [MantineColorScheme, string][]

function Schemes() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return SCHEMES.map(([scheme, label]) => (
    <Menu.Item
      key={scheme}
      role="menuitemradio"
      aria-checked={scheme === colorScheme}
      closeMenuOnClick={false}
      rightSection={scheme === colorScheme && <IconCheck size={16} aria-hidden />}
      onClick={() => setColorScheme(scheme)}
    >
      {label}
    </Menu.Item>
  ))
}
