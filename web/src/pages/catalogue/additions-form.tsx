import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, told } from "../../api/client";
import type { Additions } from "./additions";

interface AdditionsFormProps {
  component: string;
  additions: Additions;
  onChange: (additions: Additions) => void;
}

/** Fields for a git repository and for secrets, which every entry with a component of its own can take. */
export function AdditionsForm({ component, additions, onChange }: AdditionsFormProps) {
  const { data } = useQuery({
    queryKey: ["secrets"],
    queryFn: () => told(api.GET("/api/v1/secrets")),
  });
  // A name that an address brings stays in sight, so that it can be taken off.
  const chosen = [...additions.secrets, ...(additions.gitSecret ? [additions.gitSecret] : [])];
  const names = [...new Set([...(data?.secrets ?? []).map((one) => one.name), ...chosen])].sort();
  return (
    <>
      <details className="field" open={additions.git !== ""}>
        <summary>Git repository</summary>
        <Repository additions={additions} names={names} onChange={onChange} />
      </details>
      <details className="field" open={additions.secrets.length > 0}>
        <summary>Secrets{additions.secrets.length > 0 && ` (${additions.secrets.length})`}</summary>
        <fieldset className="tags">
          <legend className="sr">Secrets for {component}</legend>
          {names.map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={additions.secrets.includes(name)}
                onChange={(e) => onChange({ ...additions, secrets: toggled(additions.secrets, name, e) })}
              />{" "}
              {name}
            </label>
          ))}
        </fieldset>
        <p className="faint">
          {component} finds each as a file of its name below <code>{"{secrets}"}</code>.{" "}
          {names.length === 0 && "There are none yet. "}
          <Link to="/account">Store a secret</Link>
        </p>
      </details>
    </>
  );
}

function toggled(secrets: string[], name: string, { target }: { target: HTMLInputElement }): string[] {
  const others = secrets.filter((one) => one !== name);
  return target.checked ? [...others, name] : others;
}

interface RepositoryProps {
  additions: Additions;
  names: string[];
  onChange: (additions: Additions) => void;
}

function Repository({ additions, names, onChange }: RepositoryProps) {
  return (
    <div className="stacked">
      <p className="faint">It is cloned into your workspace before the start.</p>
      <label>
        Address
        <input
          value={additions.git}
          placeholder="https://example.org/team/project.git"
          maxLength={1024}
          onChange={(e) => onChange({ ...additions, git: e.target.value })}
        />
      </label>
      <label>
        Branch, tag or commit
        <input
          value={additions.ref}
          maxLength={255}
          onChange={(e) => onChange({ ...additions, ref: e.target.value })}
        />
      </label>
      <label>
        Directory in your workspace
        <input
          value={additions.into}
          placeholder="the repository's name"
          maxLength={255}
          onChange={(e) => onChange({ ...additions, into: e.target.value })}
        />
      </label>
      <div>
        <label htmlFor="git-secret">Secret that opens it</label>
        <select
          id="git-secret"
          value={additions.gitSecret}
          onChange={(e) => onChange({ ...additions, gitSecret: e.target.value })}
        >
          <option value="">none</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
    </div>
  );
}
