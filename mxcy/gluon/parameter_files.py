"""Saving and loading the parameters of blocks."""

import re
import warnings

from mxcy import ndarray as nd
from mxcy import profile
from mxcy.gluon.agreement import brief

__all__ = ["ParameterFiles", "save_arrays"]


def save_arrays(filename, arrays):
    """Write named arrays in the profile's format: MXNet 1.x's array list, or ``npz`` for 2.x.

    Parameters
    ----------
    filename : str
    arrays : dict of str to NDArray
    """
    nd.save(filename, arrays, **({"format": "npz"} if profile.saves_as_numpy() else {}))


def _as_array(array):
    """Convert a value of the dictionary, possibly a NumPy array, to an NDArray."""
    return array if isinstance(array, nd.NDArray) else nd.array(array, dtype=array.dtype)


class ParameterFiles:
    """Mixin of `Block` that saves and loads parameters.

    Files use structural names such as ``0.weight``; older files with full names such as
    ``dense0_weight`` can be read too.
    """

    def save_parameters(self, filename, deduplicate=False):
        """Write all parameters to a file, by structural names.

        Parameters
        ----------
        filename : str
            The file.
        deduplicate : bool
            Write shared parameters only once.
        """
        parameters = self._collect_params_with_prefix()
        if deduplicate:
            last_name = {id(parameter): name for name, parameter in parameters.items()}
            parameters = {name: parameters[name] for name in last_name.values()}
        save_arrays(filename, {name: p._reduce() for name, p in parameters.items()})

    def save_params(self, filename):
        """Write all parameters to a file, by full names without the prefix (deprecated).

        Parameters
        ----------
        filename : str
            The file.
        """
        warnings.warn(
            "save_params is deprecated. Please use save_parameters.",
            DeprecationWarning,
            stacklevel=2,
        )
        self._by_full_names().save(filename, strip_prefix=self.prefix)

    def load_parameters(
        self,
        filename,
        ctx=None,
        allow_missing=False,
        ignore_extra=False,
        cast_dtype=False,
        dtype_source="current",
        *,
        device=None,
    ):
        """Read parameters that `save_parameters` or `ParameterDict.save` wrote.

        Parameters
        ----------
        filename : str
            The file.
        ctx : Context or list of Context, optional
            Contexts for uninitialized parameters; the CPU by default.
        allow_missing : bool
            Keep parameters that are missing from the file instead of raising.
        ignore_extra : bool
            Skip arrays in the file that are not parameters instead of raising.
        cast_dtype : bool
            Cast on dtype mismatch instead of raising.
        dtype_source : {'current', 'saved'}
            Which dtype a cast keeps.
        device : Context or list of Context, optional
            Alias of `ctx`.

        Raises
        ------
        AssertionError
            If a parameter is missing, or shapes or dtypes do not match.
        ValueError
            If the file has arrays that are not parameters.
        """
        loaded = [nd.load(filename)]
        with self.collect_params()._semantics():
            self._load(
                loaded.pop(),  # emptied while loading, to free each array once it is copied
                filename,
                ctx or device,
                allow_missing,
                ignore_extra,
                cast_dtype,
                dtype_source,
            )

    def load_params(self, filename, ctx=None, allow_missing=False, ignore_extra=False):
        """Read parameters from a file (deprecated, see `load_parameters`)."""
        warnings.warn(
            "load_params is deprecated. Please use load_parameters.",
            DeprecationWarning,
            stacklevel=2,
        )
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def load_dict(
        self,
        param_dict,
        ctx=None,
        allow_missing=False,
        ignore_extra=False,
        cast_dtype=False,
        dtype_source="current",
        *,
        device=None,
    ):
        """Load parameters from a dictionary of arrays.

        Parameters
        ----------
        param_dict : dict of str to NDArray
            Arrays by structural name.
            ctx, allow_missing, ignore_extra, cast_dtype, dtype_source, device
            See `load_parameters`.
        """
        self._load(
            param_dict, None, ctx or device, allow_missing, ignore_extra, cast_dtype, dtype_source
        )

    def _load(self, loaded, filename, ctx, allow_missing, ignore_extra, cast_dtype, dtype_source):
        source = "the dictionary" if filename is None else f"file '{filename}'"
        if not isinstance(loaded, dict):  # an unnamed array list
            loaded = {str(i): array for i, array in enumerate(loaded)}
        parameters = self._collect_params_with_prefix()
        loaded = self._unpacked(loaded, "")
        dotted = any("." in name for name in loaded)
        if loaded and not dotted and not loaded.keys() & parameters.keys():  # full names
            by_name = self._by_full_names()
            by_name._take(
                dict(loaded),
                ctx,
                allow_missing,
                ignore_extra,
                "" if loaded.keys() <= by_name.keys() else self.prefix,
                filename,
                cast_dtype,
                dtype_source,
            )
            return
        loaded = {
            re.sub("^(arg|aux):", "", name): _as_array(array) for name, array in loaded.items()
        }
        if not allow_missing:
            there = {id(parameters[name]) for name in loaded if name in parameters}
            for name, parameter in parameters.items():
                assert id(parameter) in there, (
                    f"Parameter '{name}' is missing in {source}, which contains parameters: "
                    f"{brief(loaded)}. Set allow_missing=True to ignore missing parameters."
                )
        for name in list(loaded):
            array = loaded.pop(name)
            if name in parameters:
                parameters[name]._load_init(array, ctx, cast_dtype, dtype_source)
            elif not ignore_extra:
                raise ValueError(
                    f"Parameter '{name}' loaded from {source} is not present in the block, which "
                    f"contains parameters {brief(parameters)}. Set ignore_extra=True to ignore."
                )

    def _unpacked(self, loaded, prefix):
        """Hook to split arrays of a file that hold several of the block's parameters.

        Parameters
        ----------
        loaded : dict of str to NDArray
            The arrays by structural names.
        prefix : str
            Prefix of the block's structural names.
        """
        for name, child in self._children.items():
            loaded = child._unpacked(loaded, f"{prefix}{name}.")
        return loaded
