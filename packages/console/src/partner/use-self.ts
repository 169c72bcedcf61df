/** Loads the participant that is signed in. */
import { useQuery } from '@tanstack/react-query'
import { answered } from '../api/client.ts'
import { partner } from './api.ts'

export const useSelf = () => useQuery({ queryKey: ['self'], queryFn: () => answered(partner.GET('/partner/api/self')) })
