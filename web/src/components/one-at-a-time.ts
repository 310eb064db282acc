import { type UseMutationOptions, useMutation } from "@tanstack/react-query";
import { useRef } from "react";

/** A mutation of which one runs at a time. The second click of two comes before a button is drawn as disabled; it is
 * dropped. With an `onSettled` that returns what renews the page, it runs until the page shows what it did.
 */
export function useOneAtATime<Data, Variables = void>(options: UseMutationOptions<Data, Error, Variables>) {
  const runs = useRef(false);
  const mutation = useMutation<Data, Error, Variables>({
    ...options,
    onSettled: async (...settled) => {
      try {
        await options.onSettled?.(...settled);
      } finally {
        runs.current = false;
      }
    },
  });
  const mutate = (variables: Variables) => {
    if (runs.current) return;
    runs.current = true;
    mutation.mutate(variables);
  };
  return { ...mutation, mutate };
}
