import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useNavigate } from "react-router";
import { api, type Schemas, told } from "./client";

type Conditions = "after" | "hold" | "keep";
export type Submission = Omit<Schemas["SubmitRequest"], Conditions>;

const UNCONDITIONAL: Pick<Schemas["SubmitRequest"], Conditions> = { after: [], hold: false, keep: false };

/**
 * The idempotency keys of one form: the same for the same content until it has become an execution, so that trying again
 * after an answer that was lost makes no second one.
 */
export class SubmissionKeys {
  private content = "";
  private key = "";

  keyOf(content: string): string {
    if (this.key === "" || content !== this.content) {
      this.content = content;
      this.key = randomKey();
    }
    return this.key;
  }

  /** It has become an execution: the same content again is another one. */
  used(): void {
    this.key = "";
  }
}

/** `crypto.randomUUID` is not there without HTTPS. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** Runs one call at a time: `true` while one is under way, at once and not at the next drawing. */
export class OneAtATime {
  private busy = false;

  begin(): boolean {
    if (this.busy) return false;
    this.busy = true;
    return true;
  }

  end(): void {
    this.busy = false;
  }
}

/** Sends what a form holds and leads to what came of it: once for each press, also of a button that is pressed twice. */
export function useSending(send: (keyOf: (body: object) => string) => Promise<string>) {
  const navigate = useNavigate();
  const keys = useRef(new SubmissionKeys());
  const turn = useRef(new OneAtATime());
  const { mutate, error, status, reset } = useMutation({
    mutationFn: () => send((body) => keys.current.keyOf(JSON.stringify(body))),
    // It stays busy after a success: the page goes.
    onError: () => turn.current.end(),
    onSuccess: (address) => {
      keys.current.used();
      navigate(address);
    },
  });
  // The summary of what is wrong leads to the fields; it is shown by the same change as the error.
  useEffect(() => {
    if (error) document.querySelector<HTMLElement>("main .problem")?.focus();
  }, [error]);
  const submit = () => {
    if (turn.current.begin()) mutate();
  };
  /** Takes back what was said of a form that has changed since. */
  const forget = () => {
    if (status === "error") reset();
  };
  return { submit, error, forget, busy: status === "pending" || status === "success" };
}

/** Submits an execution and leads to it. */
export function useSubmission(filled: () => Submission | Promise<Submission>) {
  return useSending(async (keyOf) => {
    const execution = await submitted(await filled(), keyOf);
    return `/executions/${execution.id}`;
  });
}

export async function submitted(submission: Submission, keyOf: (body: object) => string) {
  const body = { ...UNCONDITIONAL, ...submission };
  const header = { "idempotency-key": keyOf(body) };
  return told(api.POST("/api/v1/executions", { body, params: { header } }));
}

/** Submits an array: the same for each of its indices. */
export async function submittedArray(
  submission: Submission & { indices: string },
  keyOf: (body: object) => string,
) {
  const body = { ...UNCONDITIONAL, ...submission };
  const header = { "idempotency-key": keyOf(body) };
  return told(api.POST("/api/v1/arrays", { body, params: { header } }));
}

/** Submits a workflow; returns its address. */
export async function submittedWorkflow(
  body: Schemas["WorkflowRequest"],
  keyOf: (body: object) => string,
): Promise<string> {
  const params = { header: { "idempotency-key": keyOf(body) } };
  const { id } = await told(api.POST("/api/v1/workflows", { body, params }));
  return `/workflows/${id}`;
}
