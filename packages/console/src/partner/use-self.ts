/** Loads the participant that is signed in. */
import { useQuery } from '@tanstack/react-query'
import { answerTo } from '../api/client.ts'
import { partnerApi } from './api.ts'

export const useOwnParticipant = () =>
  useQuery({ queryKey: ['self'], queryFn: () => answerTo(partnerApi.GET('/partner/api/self')) })
