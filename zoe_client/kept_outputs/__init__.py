"""An extension of Jupyter's server: outputs of cells are kept while no page shows their notebook.

JupyterLab writes the outputs of a cell into the document that the server shares with its pages (jupyter-collaboration).
When the page that ran a cell has gone, this extension writes them instead, so they are complete, and go on, when the
notebook is opened again. While the page is there, it writes nothing.
"""
